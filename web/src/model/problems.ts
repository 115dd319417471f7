import { groupBy } from "./group-by";
import { flattenTasks, type TaskState, type TaskView } from "./task-view";

/** Tasks without a result for the same reason. */
export interface Problem {
  state: TaskState;
  reason: string;
  tasks: TaskView[];
}

const ORDER: readonly TaskState[] = ["failed", "escalated", "cut off", "skipped", "not run"];

/** Return why tasks have no result, each reason once, those of failed tasks first; a team's is that of its own tasks. */
export function listProblems(tasks: readonly TaskView[]): Problem[] {
  const isOpen = ({ state }: TaskView) => ORDER.includes(state);
  const open = flattenTasks(tasks).filter((task) => isOpen(task) && !flattenTasks(task.inner).some(isOpen));
  const found = [...groupBy(open, (task) => `${task.state}:${findReason(task)}`).values()];
  return found.map((group) => ({ state: group[0]!.state, reason: findReason(group[0]!), tasks: group })).sort(
    (one, other) => ORDER.indexOf(one.state) - ORDER.indexOf(other.state) || other.tasks.length - one.tasks.length,
  );
}

function findReason({ state, traced }: TaskView): string {
  const { report, reason } = traced;
  if (state === "skipped") return reason ?? "";
  return report?.error || report?.escalation?.message || report?.output || "";
}
