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
  const found = new Map<string, Problem>();
  for (const task of flattenTasks(tasks)) {
    if (!ORDER.includes(task.state) || flattenTasks(task.inner).some(({ state }) => ORDER.includes(state))) continue;
    const reason = findReason(task);
    const key = `${task.state}:${reason}`;
    const problem = found.get(key);
    if (problem) problem.tasks.push(task);
    else found.set(key, { state: task.state, reason, tasks: [task] });
  }
  return [...found.values()].sort(
    (one, other) => ORDER.indexOf(one.state) - ORDER.indexOf(other.state) || other.tasks.length - one.tasks.length,
  );
}

function findReason({ state, traced }: TaskView): string {
  const { report, reason } = traced;
  if (state === "skipped") return reason ?? "";
  return report?.error || report?.escalation?.message || report?.output || "";
}
