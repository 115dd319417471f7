import { secondsOf, sortByNeeds, type TaskView } from "./task-view";
import type { Trace } from "./trace";

/** A step of the critical path. */
export interface PathStep {
  /** Path of the task; empty for planning and for the answer. */
  path: string;
  title: string;
  ownS: number;
}

/** Return the longest chain of tasks that needed each other, in seconds. */
export function measureLongestChain(sorted: readonly TaskView[]): number {
  const chains = new Map<string, number>();
  for (const task of sorted) {
    // As in the run's own figures, a task that has not run ends a chain.
    if (task.endedS === null) continue;
    const before = Math.max(0, ...task.needs.map((need) => chains.get(need.path) ?? 0));
    chains.set(task.path, before + secondsOf(task));
  }
  return Math.max(0, ...chains.values());
}

/** Return the steps of the critical path in their order; none before the run has ended. */
export function listPathSteps({ timing }: Trace, tasks: readonly TaskView[]): PathStep[] {
  const { critical_path_s: pathS, planning_s: planningS, critical_path: names = [] } = timing;
  if (pathS == null || planningS == null) return [];
  const longestS = measureLongestChain(sortByNeeds(tasks));
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const steps = names.slice(1, -1).flatMap((id) => {
    const task = byId.get(id);
    return task ? [{ path: task.path, title: task.id, ownS: secondsOf(task) }] : [];
  });
  const makeOwn = (title: string, ownS: number): PathStep => ({ path: "", title, ownS });
  return [makeOwn("planning", planningS), ...steps, makeOwn("the answer", Math.max(0, pathS - planningS - longestS))];
}
