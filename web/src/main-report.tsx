import "./style/tokens.css";
import "./style/base.css";
import { render } from "preact";
import type { Trace } from "./model/trace";
import { RunView, listRunSections } from "./parts/run-view";
import { Shell } from "./parts/shell";

const trace = JSON.parse(document.getElementById("trace")!.textContent!) as Trace;
const page = document.getElementById("page")!;
page.replaceChildren();
render(
  <Shell title="Run report" sections={listRunSections(trace)}>
    <RunView trace={trace} />
  </Shell>,
  page,
);
