import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { TaskView } from "../model/task-view";
import { useRun } from "./run-context";
import { useSelection } from "./selection";
import { Line } from "./text";
import { useListener } from "./use-listener";
import { findDetails } from "../model/task-details";
import { TaskDetailsView } from "./task-details-view";

/** The frame of the task panel: beside the page, on a narrow screen at its foot. */
export function SelectedTask({ actOn }: { actOn?: ((task: TaskView) => ComponentChildren) | undefined }) {
  const { trace, byPath } = useRun();
  const { path, select } = useSelection();
  const opener = useRef<HTMLElement | SVGElement | null>(null);
  const panel = useRef<HTMLElement>(null);
  const task = byPath.get(path);
  useEffect(() => {
    document.documentElement.toggleAttribute("data-has-panel", Boolean(task));
    panel.current?.scrollTo(0, 0);
    if (!task || panel.current?.contains(document.activeElement)) return;
    const active = document.activeElement as HTMLElement | SVGElement | null;
    opener.current = active;
    // With the keyboard a reader would have to look for the panel; a pointer is left where it is.
    if (active?.matches(":focus-visible")) panel.current?.focus();
  }, [task?.path]);
  useEffect(() => () => document.documentElement.removeAttribute("data-has-panel"), []);
  const close = () => {
    select("");
    opener.current?.focus();
  };
  useListener("keydown", (event) => event.key === "Escape" && task && close());
  if (!task) return null;
  return (
    <aside class="task-drawer no-print" aria-label="Selected task" ref={panel} tabIndex={-1}>
      <header>
        <h2><Line max={120}>{task.path}</Line></h2>
        <button type="button" onClick={close} aria-label="Close the task">✕</button>
      </header>
      {actOn?.(task)}
      <TaskDetailsView key={task.path} details={findDetails(trace, byPath, task)} />
    </aside>
  );
}
