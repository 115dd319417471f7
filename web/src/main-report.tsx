import "./style/tokens.css";
import "./style/base.css";
import "./style/run.css";
import "./style/details.css";
import { render } from "preact";
import { readTrace } from "./model/read-trace";
import { RunView, listRunSections } from "./parts/run-view";
import { Shell } from "./parts/shell";

const trace = readTrace(JSON.parse(document.getElementById("trace")!.textContent!));
const page = document.getElementById("page")!;
page.replaceChildren();
render(
  trace ? (
    <Shell title="Run report" sections={listRunSections(trace)}>
      <RunView trace={trace} />
    </Shell>
  ) : (
    <p>This file holds no trace of a run.</p>
  ),
  page,
);
