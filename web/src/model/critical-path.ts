import { secondsOf, sortByNeeds, type TaskView } from "./task-view";
import type { Trace } from "./trace";

/** A step of a run, and by how much the critical path would be shorter if it took no time. */
export interface Saving {
  path: string;
  ownS: number;
  savedS: number;
}

/** Return the longest chain of tasks that needed each other, in seconds; `skipped` counts as none. */
export function measureLongestChain(sorted: readonly TaskView[], skipped = ""): number {
  const chains = new Map<string, number>();
  let longest = 0;
  for (const task of sorted) {
    const before = Math.max(0, ...task.needs.map((need) => chains.get(need.path) ?? 0));
    const chain = before + (task.path === skipped ? 0 : secondsOf(task));
    chains.set(task.path, chain);
    longest = Math.max(longest, chain);
  }
  return longest;
}

/** Return the tasks of the critical path by what each would save, the largest first. */
export function listSavings(tasks: readonly TaskView[]): Saving[] {
  const sorted = sortByNeeds(tasks);
  const longestS = measureLongestChain(sorted);
  return tasks
    .filter((task) => task.isCritical)
    .map((task) => ({
      path: task.path,
      ownS: secondsOf(task),
      savedS: longestS - measureLongestChain(sorted, task.path),
    }))
    .sort((one, other) => other.savedS - one.savedS);
}

/** Return the seconds of the answer: what the critical path has beyond planning and tasks. */
export function measureSynthesis(trace: Trace, tasks: readonly TaskView[]): number | null {
  const { critical_path_s: pathS, planning_s: planningS } = trace.timing;
  if (pathS == null || planningS == null) return null;
  return Math.max(0, pathS - planningS - measureLongestChain(sortByNeeds(tasks)));
}
