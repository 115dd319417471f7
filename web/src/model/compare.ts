/** Two runs side by side. */

import { isWithoutModel } from "./estimate";
import { formatCount, formatSeconds, formatUsd } from "./format";
import { listNeeds, listPlanVersions } from "./plan-versions";
import { describeState, flattenTasks, isTaken, secondsOf, viewTasks, type TaskView } from "./task-view";
import type { Trace } from "./trace";

export interface Figure {
  label: string;
  values: readonly [string, string];
  /** Of the second against the first, such as `−12 %`; empty where it says nothing, as of versions of a plan. */
  change: string;
}

export interface TaskPair {
  id: string;
  sides: readonly [string, string];
  difference: string;
}

type Read = (trace: Trace) => number | null | undefined;

/** All tasks, those of inner teams too, as the summary counts them. */
const listAll = (trace: Trace) => flattenTasks(viewTasks(trace));

/** Of no run without a language model. */
const OF_MODELS: ReadonlySet<string> = new Set(["Model calls", "Tokens in", "Tokens out", "Cost"]);

const VERSIONS = "Plan versions";
const FIGURES: readonly (readonly [label: string, read: Read, format: (value: number | null | undefined) => string])[] = [
  ["Time", (trace) => trace.timing.wall_s, formatSeconds],
  ["Without parallel work", ({ timing }) => (timing.speedup == null ? null : timing.sequential_s), formatSeconds],
  ["Slowest chain", (trace) => trace.timing.critical_path_s, formatSeconds],
  ["Tasks", (trace) => listAll(trace).length, (value) => formatCount(value ?? 0)],
  ["Done", (trace) => listAll(trace).filter(({ state }) => state === "done").length, (value) => formatCount(value ?? 0)],
  [VERSIONS, (trace) => listPlanVersions(trace).length, (value) => formatCount(value ?? 0)],
  ["Model calls", (trace) => trace.usage.model_calls, (value) => formatCount(value ?? 0)],
  ["Tokens in", (trace) => trace.usage.input_tokens, (value) => formatCount(value ?? 0)],
  ["Tokens out", (trace) => trace.usage.output_tokens, (value) => formatCount(value ?? 0)],
  ["Cost", (trace) => trace.usage.cost_usd, formatUsd],
];

/** Return the figures of two runs that one of them has. */
export const compareRuns = (first: Trace, second: Trace): Figure[] =>
  FIGURES.flatMap(([label, read, format]) => {
    const [one, other] = [read(first), read(second)];
    const isAbsent = (one == null && other == null) || (OF_MODELS.has(label) && [first, second].every(isWithoutModel));
    return isAbsent ? [] : [{ label, values: [format(one), format(other)] as const, change: label === VERSIONS ? "" : formatChange(one, other) }];
  });

/** Return the change in percent. */
export function formatChange(one: number | null | undefined, other: number | null | undefined): string {
  if (one == null || other == null || one === 0) return "";
  const percent = (100 * (other - one)) / one;
  const size = Math.abs(percent).toFixed(Math.abs(percent) < 1 ? 1 : 0);
  return Number(size) === 0 ? "same" : `${percent > 0 ? "+" : "−"}${size} %`;
}

/** Return the tasks of both runs by their ids, in the order of the first plan. */
export function compareTasks(first: Trace, second: Trace): TaskPair[] {
  const [ours, theirs] = [first, second].map((trace) => new Map(viewTasks(trace).map((task) => [task.id, task])));
  const ids = new Set([...ours!.keys(), ...theirs!.keys()]);
  return [...ids].map((id) => {
    const [one, other] = [ours!.get(id), theirs!.get(id)];
    return { id, sides: [describe(one), describe(other)], difference: findDifference(one, other) };
  });
}

function describe(task: TaskView | undefined): string {
  if (!task) return "–";
  const time = task.startedS !== null && task.endedS !== null ? ` (${formatSeconds(secondsOf(task))})` : "";
  return `${task.worker}: ${describeState(task)}${time}`;
}

function findDifference(one: TaskView | undefined, other: TaskView | undefined): string {
  if (!one || !other) return one ? "only in A" : "only in B";
  const changed = [
    one.worker !== other.worker && "worker",
    one.description !== other.description && "description",
    listNeeds(one.traced) !== listNeeds(other.traced) && "dependencies",
    one.state !== other.state && "status",
  ].filter(Boolean);
  return changed.length ? `other ${changed.join(", ")}` : isTaken(other) ? "taken from A" : isTaken(one) ? "taken from B" : "same";
}
