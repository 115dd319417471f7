import { useLayoutEffect, useRef } from "preact/hooks";
import { listSources } from "../model/sources";
import { countOf } from "../model/format";
import { findDetails } from "../model/task-details";
import { listNotable } from "../model/task-view";
import { SourceClaims } from "./sources-section";
import { useRun } from "./run-context";
import { TaskDetailsView } from "./task-details-view";
import { Line } from "./text";
import { useIsPrinting } from "./use-size";

/** More would not be read on paper, and would take a browser too long. */
const MAX_PRINTED = 30;
const MAX_PRINTED_SOURCES = 20;

/** What is closed on the screen, on paper: sources, and tasks; of a large run those that failed or were slow. */
export function PrintedDetails() {
  const isPrinting = useIsPrinting();
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => place.current?.querySelectorAll("details").forEach((details) => (details.open = true)), [isPrinting]);
  return (
    <div class="printed-details" ref={place}>
      {isPrinting && <AllDetails />}
    </div>
  );
}

function AllDetails() {
  const { trace, byPath } = useRun();
  const [tasks, sources] = [[...byPath.values()], listSources(trace)];
  const printed = listNotable(tasks, MAX_PRINTED);
  return (
    <>
      {sources.length > 0 && <h2>Sources and their quotations</h2>}
      {sources.slice(0, MAX_PRINTED_SOURCES).map(({ name, anchor, claims }) => (
        <div key={anchor} class="printed-source">
          <h3><Line max={160}>{name}</Line></h3>
          <SourceClaims claims={claims} />
        </div>
      ))}
      <h2>Tasks</h2>
      {printed.length < tasks.length && <p>{printed.length} of {countOf(tasks.length, "task")}: those that failed, were tried again or are on the slowest chain.</p>}
      {printed.map((task) => (
        <div key={task.path} class="printed-task">
          <h2><Line max={120}>{task.path}</Line></h2>
          <TaskDetailsView details={findDetails(trace, byPath, task)} />
        </div>
      ))}
    </>
  );
}
