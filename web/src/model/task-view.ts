import { countOf, formatCount } from "./format";
import { groupBy } from "./group-by";
import { isNumber } from "./json";
import { selectTurn } from "./read-trace";
import type { RunStatus, Trace, TraceEvent, TracedTask } from "./trace";

export type TaskState = "waiting" | "working" | "done" | "failed" | "skipped" | "escalated" | "cut off" | "asks" | "not run";

/** What a task needs of another one. */
export interface Need {
  path: string;
  required: boolean;
  /** The other task has ended without a result. */
  isMissing: boolean;
}

/** A task as it is shown, wherever that is. */
export interface TaskView {
  /** Its id; `outer/inner` inside a team. */
  path: string;
  id: string;
  /** Path of the task whose team it is in, empty outside; and how many teams it is in. */
  within: string;
  level: number;
  worker: string;
  description: string;
  state: TaskState;
  needs: Need[];
  /** Paths of the tasks that need this one. */
  dependants: string[];
  /** Longest way from a task without needs, in tasks; 0 for those. */
  depth: number;
  /** Seconds from the start of the run; null before it began or ended. */
  startedS: number | null;
  endedS: number | null;
  /** Attempts that began, each once. */
  attempts: number;
  /** Its result is partial, or an optional result was missing. */
  isDegraded: boolean;
  /** Its result quotes passages that no language model has read. */
  isUnread: boolean;
  isCritical: boolean;
  confidence: number | null;
  traced: TracedTask;
  /** The tasks of the team that did it. */
  inner: TaskView[];
}

export const STATE_GLYPHS: Readonly<Record<TaskState, string>> = {
  done: "✓",
  working: "●",
  waiting: "○",
  failed: "✕",
  skipped: "–",
  escalated: "!",
  "cut off": "■",
  asks: "?",
  "not run": "∅",
};

/** Return the words that a reader is shown for a state. */
export const labelState = (state: string): string => (state === "escalated" ? "could not do it" : state);

const STATUSES = ["failed", "skipped", "escalated", "working"] as const;
/** What a task is that the run left open, by the run's status. */
const OPEN_STATES: Partial<Record<RunStatus, Partial<Record<TaskState, TaskState>>>> = {
  stopped: { working: "cut off" },
  failed: { working: "cut off", waiting: "not run" },
  needs_input: { working: "asks" },
  done: { waiting: "not run" },
  passages: { waiting: "not run" },
  partial: { waiting: "not run" },
};
const WITHOUT_RESULT: ReadonlySet<TaskState> = new Set(["failed", "skipped", "escalated"]);

/** Return the tasks of the last plan; those of inner teams are in their tasks. */
export function viewTasks(trace: Trace): TaskView[] {
  const starts = groupBy(selectTurn(trace).filter(({ kind }) => kind === "task_started"), ({ task }) => task);
  const critical = new Set(trace.timing.critical_path ?? []);
  return viewLevel(trace.tasks, "", 0, { starts, critical, status: trace.run.status });
}

/** Return tasks and those of inner teams in one list, each before its inner ones. */
export const flattenTasks = (tasks: readonly TaskView[]): TaskView[] =>
  tasks.flatMap((task) => [task, ...flattenTasks(task.inner)]);

/** Return how many tasks a plan has, in words: `3 tasks, with 6 inside`. */
export const countTasks = (tasks: readonly TaskView[]): string => {
  const inside = flattenTasks(tasks).length - tasks.length;
  return `${countOf(tasks.length, "task")}${inside ? `, with ${formatCount(inside)} inside` : ""}`;
};

export const secondsOf = (task: TaskView): number =>
  task.startedS === null || task.endedS === null ? 0 : Math.max(0, task.endedS - task.startedS);

interface Known {
  starts: Map<string, TraceEvent[]>;
  critical: Set<string>;
  status: RunStatus;
}

function viewLevel(tasks: TracedTask[], parent: string, level: number, known: Known): TaskView[] {
  const views = tasks.map((task) => viewTask(task, parent, level, known));
  const byPath = new Map(views.map((view) => [view.path, view]));
  for (const view of views) {
    view.needs = view.needs.filter((need) => byPath.has(need.path) && need.path !== view.path);
    for (const need of view.needs) {
      const needed = byPath.get(need.path)!;
      needed.dependants.push(view.path);
      need.isMissing = WITHOUT_RESULT.has(needed.state);
    }
    view.isDegraded ||= view.state === "done" && view.needs.some((need) => need.isMissing);
  }
  sortByNeeds(views).forEach((view) => {
    view.depth = Math.max(0, ...view.needs.map((need) => byPath.get(need.path)!.depth + 1));
  });
  return views;
}

function viewTask(task: TracedTask, parent: string, level: number, known: Known): TaskView {
  const within = parent && `${parent}/`;
  const path = within + task.id;
  const report = task.report;
  const starts = known.starts.get(path) ?? [];
  const state = task.status === "completed" ? "done" : (STATUSES.find((each) => each === task.status) ?? "waiting");
  return {
    path,
    id: task.id,
    within: parent,
    level,
    worker: task.worker,
    description: task.description,
    state: OPEN_STATES[known.status]?.[state] ?? state,
    needs: task.depends_on.map((edge) => ({ path: within + edge.task, required: edge.required, isMissing: false })),
    dependants: [],
    depth: 0,
    startedS: isNumber(report?.started_s) && starts.length ? report.started_s : (starts[0]?.t ?? null),
    endedS: isNumber(report?.ended_s) && starts.length ? report.ended_s : null,
    attempts: countAttempts(starts),
    isDegraded: report?.["is_partial"] === true,
    isUnread: report?.["is_unread"] === true && state === "done",
    isCritical: !parent && known.critical.has(task.id),
    confidence: isNumber(report?.confidence) && state !== "failed" ? report.confidence : null,
    traced: task,
    inner: viewLevel(task.team?.tasks ?? [], path, level + 1, known),
  };
}

/** Return how many attempts began; one that was cut off and begun again is one. */
const countAttempts = (starts: readonly TraceEvent[]): number => new Set(starts.map((start, index) => start["attempt"] ?? index + 1)).size;

/** Return tasks of one level, each after those it needs; an edge of a circle is ignored. */
export function sortByNeeds(tasks: readonly TaskView[]): TaskView[] {
  const left = new Map(tasks.map((task) => [task.path, task.needs.length]));
  const byPath = new Map(tasks.map((task) => [task.path, task]));
  const sorted = tasks.filter((task) => !task.needs.length);
  for (let index = 0; index < sorted.length; index += 1) {
    for (const path of sorted[index]!.dependants) {
      left.set(path, left.get(path)! - 1);
      if (left.get(path) === 0) sorted.push(byPath.get(path)!);
    }
  }
  if (sorted.length === tasks.length) return sorted;
  const placed = new Set(sorted);
  return [...sorted, ...tasks.filter((task) => !placed.has(task))];
}

/** Whether its result is from the run that this one is begun again from. */
export const isTaken = ({ attempts, traced, state }: TaskView): boolean => !attempts && state === "done" && Boolean(traced.report);

/** Return what is said of a task's state: `done, partial`, `failed`, `passages`. */
export const describeState = (task: TaskView): string =>
  [task.isUnread ? "passages" : labelState(task.state), task.isDegraded && "partial", isTaken(task) && "taken over"].filter(Boolean).join(", ");

/** Return the tasks that a reader most wants on paper, `max` of them: what has no result or was tried again, then the critical path. */
export function listNotable(tasks: readonly TaskView[], max: number): TaskView[] {
  if (tasks.length <= max) return [...tasks];
  const isTroubled = (task: TaskView) => task.state !== "done" || task.attempts > 1 || task.isDegraded;
  return [...tasks.filter(isTroubled), ...tasks.filter((task) => !isTroubled(task) && task.isCritical)].slice(0, max);
}

/** Return the events of each task of the last request, by its path; those without a task under "". */
export const groupEvents = (trace: Trace): Map<string, TraceEvent[]> => groupBy(selectTurn(trace), ({ task }) => task);
