import { secondsOf, sortByNeeds, type TaskView } from "./task-view";
import type { Trace } from "./trace";

/** A step of the critical path, and by how much the path would be shorter if it took no time. */
export interface PathStep {
  /** Path of the task; empty for planning and for the answer. */
  path: string;
  title: string;
  ownS: number;
  savedS: number;
}

/** Return the longest chain of tasks that needed each other, in seconds; `skipped` counts as none. */
export function measureLongestChain(sorted: readonly TaskView[], skipped = ""): number {
  const chains = new Map<string, number>();
  for (const task of sorted) {
    // As in the run's own figures, a task that has not run ends a chain.
    if (task.endedS === null) continue;
    const before = Math.max(0, ...task.needs.map((need) => chains.get(need.path) ?? 0));
    chains.set(task.path, before + (task.path === skipped ? 0 : secondsOf(task)));
  }
  return Math.max(0, ...chains.values());
}

/** Return the steps of the critical path in their order; none before the run has ended. */
export function listPathSteps({ timing }: Trace, tasks: readonly TaskView[]): PathStep[] {
  const { critical_path_s: pathS, planning_s: planningS, critical_path: names = [] } = timing;
  if (pathS == null || planningS == null) return [];
  const sorted = sortByNeeds(tasks);
  const longestS = measureLongestChain(sorted);
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const steps = names.slice(1, -1).flatMap((id) => {
    const task = byId.get(id);
    if (!task) return [];
    return [{ path: task.path, title: task.id, ownS: secondsOf(task), savedS: longestS - measureLongestChain(sorted, task.path) }];
  });
  const makeOwn = (title: string, ownS: number): PathStep => ({ path: "", title, ownS, savedS: ownS });
  return [makeOwn("planning", planningS), ...steps, makeOwn("the answer", Math.max(0, pathS - planningS - longestS))];
}

/** Return the step that would shorten the path most; null if none would. */
export const findBestStep = (steps: readonly PathStep[]): PathStep | null =>
  steps.reduce<PathStep | null>((best, step) => (step.savedS > (best?.savedS ?? 0) ? step : best), null);

/** From here on waiting, not work, is what bounds a run; the counterpart of SLACK in nodes/telemetry/latency.py. */
const SLACK = 1.15;

/** Return the seconds that a run took beyond its critical path; 0 where they are few. */
export function measureWaiting({ wall_s: wallS = 0, critical_path_s: pathS }: Trace["timing"]): number {
  return pathS != null && wallS > pathS * SLACK ? wallS - pathS : 0;
}
