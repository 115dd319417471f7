import { render } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { TaskIndex } from "../model/task-details";
import { useRun } from "./run-context";
import { TaskDetailsView } from "./task-details-view";
import { Line } from "./text";

/** More would not be read on paper, and would take a browser too long. */
const MAX_PRINTED = 60;
const MAX_OPENED = 400;
/** What is closed on the screen and open on paper. */
const OPENED = ".printed-tasks details:not([open]), .sources details:not([open])";

/** The details of the tasks on paper: all of a small run, what failed or was slow of a large one. */
export function PrintedTasks() {
  const run = useRun();
  const index = useMemo(() => new TaskIndex(run.trace, run.byPath), [run]);
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    let opened: HTMLDetailsElement[] = [];
    const fill = () => {
      if (!place.current) return;
      // At once: the browser takes its picture when this event has been handled.
      render(<AllDetails index={index} />, place.current);
      opened = [...document.querySelectorAll<HTMLDetailsElement>(OPENED)].slice(0, MAX_OPENED);
      opened.forEach((details) => (details.open = true));
    };
    const empty = () => {
      if (place.current) render(null, place.current);
      opened.forEach((details) => (details.open = false));
    };
    window.addEventListener("beforeprint", fill);
    window.addEventListener("afterprint", empty);
    return () => {
      window.removeEventListener("beforeprint", fill);
      window.removeEventListener("afterprint", empty);
    };
  }, [index]);
  return <div class="printed-tasks" ref={place} />;
}

function AllDetails({ index }: { index: TaskIndex }) {
  const paths = index.listNotable(MAX_PRINTED);
  return (
    <>
      <h2>Tasks</h2>
      {paths.length < index.size && (
        <p>
          {paths.length} of {index.size} tasks: those that failed, were tried again or are on the critical path.
        </p>
      )}
      {paths.map((path) => (
        <div key={path} class="printed-task">
          <h2>
            <Line max={120}>{path}</Line>
          </h2>
          <TaskDetailsView details={index.find(path)!} />
        </div>
      ))}
    </>
  );
}
