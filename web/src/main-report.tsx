import "./style/tokens.css";
import "./style/base.css";
import "./style/run.css";
import "./style/details.css";
import { render } from "preact";
import { readTrace } from "./model/read-trace";
import { listRunLinks } from "./parts/run-sections";
import { RunView } from "./parts/run-view";
import { Shell } from "./parts/shell";

/** Return the task that the address names: `report.html#task=PATH`. */
const readTask = (): string => new URLSearchParams(location.hash.slice(1)).get("task") ?? "";

function writeTask(path: string): void {
  const address = path ? `#${new URLSearchParams({ task: path })}` : location.href.split("#")[0]!;
  try {
    history.replaceState(null, "", address);
  } catch {
    // A page in a frame without an origin has no address of its own.
  }
}

const trace = readTrace(JSON.parse(document.getElementById("trace")!.textContent!));
const page = document.getElementById("page")!;
page.replaceChildren();
render(
  trace ? (
    <Shell title="Run report" sections={listRunLinks(trace)}>
      <RunView trace={trace} start={readTask()} onSelect={writeTask} />
    </Shell>
  ) : (
    <p>This file holds no trace of a run.</p>
  ),
  page,
);
