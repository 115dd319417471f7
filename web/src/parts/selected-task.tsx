import { useEffect, useRef } from "preact/hooks";
import { useRun } from "./run-context";
import { useSelection } from "./selection";
import { TaskPanel } from "./task-panel";
import { Line } from "./text";

/** The frame of the task panel: beside the page, on a narrow screen at its foot. */
export function SelectedTask() {
  const { byPath } = useRun();
  const { path, select } = useSelection();
  const closeButton = useRef<HTMLButtonElement>(null);
  const panel = useRef<HTMLElement>(null);
  const task = byPath.get(path);
  useEffect(() => {
    document.documentElement.toggleAttribute("data-has-panel", Boolean(task));
    panel.current?.scrollTo(0, 0);
  }, [task?.path]);
  useEffect(() => {
    const close = (event: KeyboardEvent) => event.key === "Escape" && select("");
    document.addEventListener("keydown", close);
    return () => document.removeEventListener("keydown", close);
  }, [select]);
  if (!task) return null;
  return (
    <aside class="task-drawer no-print" aria-label="Selected task" ref={panel} tabIndex={-1}>
      <header>
        <h2>
          <Line max={120}>{task.path}</Line>
        </h2>
        <button type="button" ref={closeButton} onClick={() => select("")} aria-label="Close the task">
          ✕
        </button>
      </header>
      <TaskPanel task={task} />
    </aside>
  );
}
