import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { flattenTasks, viewTasks, type TaskView } from "../model/task-view";
import type { Trace } from "../model/trace";

/** A run as it is shown, computed once for all parts. */
export interface ShownRun {
  trace: Trace;
  /** Tasks of the last plan; those of inner teams are in their tasks. */
  tasks: TaskView[];
  byPath: ReadonlyMap<string, TaskView>;
}

export function showRun(trace: Trace): ShownRun {
  const tasks = viewTasks(trace);
  return { trace, tasks, byPath: new Map(flattenTasks(tasks).map((task) => [task.path, task])) };
}

export const RunContext = createContext<ShownRun | null>(null);

export function useRun(): ShownRun {
  const run = useContext(RunContext);
  if (!run) throw new Error("no run is shown here");
  return run;
}
