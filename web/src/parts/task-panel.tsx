import { useMemo } from "preact/hooks";
import { TaskIndex } from "../model/task-details";
import type { TaskView } from "../model/task-view";
import { useRun } from "./run-context";
import { TaskDetailsView } from "./task-details-view";

/** What is known of one task. */
export function TaskPanel({ task }: { task: TaskView }) {
  const run = useRun();
  const index = useMemo(() => new TaskIndex(run.trace, run.byPath), [run]);
  const details = index.find(task.path);
  return details && <TaskDetailsView key={task.path} details={details} />;
}
