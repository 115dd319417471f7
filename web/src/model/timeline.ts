import { listAttempts, nameRung, type Attempt } from "./attempts";
import { isBuiltIn } from "./estimate";
import { countOf, formatSeconds } from "./format";
import { isNumber } from "./json";
import { selectTurn } from "./read-trace";
import { groupEvents, secondsOf, type TaskView } from "./task-view";
import type { Trace, TraceEvent } from "./trace";

export type SegmentKind = "waiting" | "attempt" | "planning" | "synthesis" | "model" | "tool" | "speculative" | "gap";

/** A stretch of a row, in seconds from the start of the run. */
export interface Segment {
  kind: SegmentKind;
  startS: number;
  endS: number;
  title: string;
  /** It did not lead to a result: an attempt before the last, a call with an error. */
  isFailed: boolean;
}

export interface TimelineRow {
  /** Null for the supervisor's rows, whose path is empty. */
  task: TaskView | null;
  path: string;
  title: string;
  isCritical: boolean;
  segments: Segment[];
  /** Its bars in words. */
  summary: string;
  /** Beside its last bar: how long it took, or why there is none. */
  note: string;
}

export interface Timeline {
  startS: number;
  endS: number;
  rows: TimelineRow[];
}

/** Return whether an event is a call, but for those of the built-in model. */
const isCall = ({ kind, model }: TraceEvent): boolean => kind === "tool_call" || (kind === "model_call" && !isBuiltIn({ model }));

/** Return the timeline of the last request: the supervisor, the tasks by their start, the synthesizer. */
export function buildTimeline(trace: Trace, tasks: readonly TaskView[]): Timeline {
  const turn = selectTurn(trace);
  const byTask = groupEvents(trace);
  const [startS, endS] = [turn[0]?.t ?? 0, Math.max(turn.at(-1)?.t ?? 0, trace.run.now_s ?? 0)];
  const reportsS = Math.max(startS, ...turn.filter((event) => event.kind === "report").map((event) => event.t));
  const planned = findPlanned(turn);
  const hasPath = trace.timing.critical_path !== undefined;
  const rows = [
    buildSupervisorRow(turn, reportsS, hasPath),
    ...orderRows(tasks).map((task) => buildTaskRow(task, byTask.get(task.path) ?? [], planned, endS)),
    ...buildSynthesisRow(turn, reportsS, hasPath),
  ];
  return { startS, endS: Math.max(endS, startS + 1e-6), rows };
}

/** Return tasks by when they began, each followed by those of its team; without a start they are last. */
function orderRows(tasks: readonly TaskView[]): TaskView[] {
  const startOf = (task: TaskView) => task.startedS ?? Number.MAX_VALUE;
  return [...tasks].sort((one, other) => startOf(one) - startOf(other)).flatMap((task) => [task, ...orderRows(task.inner)]);
}

/** Return when each task first was part of a plan. */
function findPlanned(turn: TraceEvent[]): Map<string, number> {
  const found = new Map<string, number>();
  for (const event of turn) {
    const plan = event["plan"] as { tasks?: { id?: string }[] } | undefined;
    const within = event.within ? `${event.within}/` : "";
    for (const task of (event.kind.startsWith("plan_") && plan?.tasks) || []) {
      if (!found.has(`${within}${task.id}`)) found.set(`${within}${task.id}`, event.t);
    }
  }
  return found;
}

const makeSegment = (kind: SegmentKind, startS: number, endS: number, title: string, isFailed = false): Segment => ({
  kind,
  startS: Math.max(0, Math.min(startS, endS)),
  endS,
  title,
  isFailed,
});

function readCalls(events: TraceEvent[]): Segment[] {
  return events
    .filter(isCall)
    .map((event) => {
      const isModel = event.kind === "model_call";
      const name = isModel ? `model call: ${event["schema"] || event["model"] || ""}` : `tool call: ${event["tool"] ?? ""}`;
      const seconds = isNumber(event["seconds"]) ? event["seconds"] : 0;
      const outcome = event["error"] ? "; it failed" : event["cancelled"] ? "; its reply was not awaited" : "";
      return makeSegment(isModel ? "model" : "tool", event.t - seconds, event.t, name + outcome, Boolean(event["error"]));
    });
}

function buildTaskRow(task: TaskView, events: TraceEvent[], planned: Map<string, number>, endS: number): TimelineRow {
  const ownEvents = events.filter((event) => (event.within ?? "") === task.within);
  const attempts = listAttempts(ownEvents);
  const plannedS = planned.get(task.path);
  const firstS = attempts[0]?.startS ?? (task.state === "waiting" ? endS : undefined);
  const waiting =
    plannedS !== undefined && firstS !== undefined ? [makeSegment("waiting", plannedS, firstS, "waiting")] : [];
  return {
    task,
    path: task.path,
    title: task.id,
    isCritical: task.isCritical,
    segments: [...waiting, ...readSpeculation(ownEvents), ...placeAttempts(attempts, task, endS), ...readCalls(events)],
    summary: summarize(task, waiting[0], events),
    note: task.endedS === null || !attempts.length ? describeStill(task) : formatSeconds(secondsOf(task)),
  };
}

/** Return what is said of a task without a time. */
const describeStill = ({ state, traced }: TaskView): string => [state, traced.reason].filter(Boolean).join(": ");

/** Return the attempts at a task, and what it waited for between them. */
function placeAttempts(attempts: readonly Attempt[], task: TaskView, endS: number): Segment[] {
  const isWithoutResult = task.state === "failed" || task.state === "escalated";
  return attempts.flatMap((attempt, index) => {
    const next = attempts[index + 1];
    const untilS = next?.startS ?? task.endedS ?? endS;
    const isOver = next !== undefined || task.state === "asks";
    const lastS = isOver ? Math.min(attempt.endS ?? untilS, untilS) : untilS;
    const rung = attempt.rung ? `, ${nameRung(attempt.rung)}` : "";
    const bar = makeSegment("attempt", attempt.startS, lastS, `attempt ${attempt.number}${rung}${attempt.isCutOff ? ", cut off" : ""}`, isWithoutResult || (isOver && !attempt.isCompleted));
    if (!isOver || lastS === untilS) return [bar];
    const isHuman = next?.rung === "human" || task.state === "asks";
    return [bar, makeSegment("waiting", lastS, untilS, isHuman ? "waiting for a human" : "waiting for the next attempt")];
  });
}

/** Return the calls that began before the plan was complete. */
function readSpeculation(events: TraceEvent[]): Segment[] {
  const begun = events.find((event) => event.kind === "speculated" && event["outcome"] === "begun");
  if (!begun) return [];
  const end = events.find((event) => event.kind === "speculated" && event["outcome"] !== "begun");
  const outcome = end ? String(end["outcome"]) : "open";
  return [makeSegment("speculative", begun.t, end?.t ?? begun.t, `began before the plan was complete: ${outcome}`, outcome === "discarded")];
}

function summarize(task: TaskView, waiting: Segment | undefined, events: TraceEvent[]): string {
  const count = (kind: string, noun: string) => {
    const found = events.filter((event) => event.kind === kind && isCall(event)).length;
    return found > 0 && countOf(found, noun);
  };
  const parts = [
    waiting && `waited ${formatSeconds(waiting.endS - waiting.startS)}`,
    task.endedS !== null && `worked ${formatSeconds(secondsOf(task))}`,
    task.traced.reason,
    task.attempts > 0 && countOf(task.attempts, "attempt"),
    count("model_call", "model call"),
    count("tool_call", "tool call"),
    task.isCritical && "on the slowest chain",
  ];
  return parts.filter(Boolean).join(", ");
}

const makeOwnRow = (title: string, isCritical: boolean, segments: Segment[], summary: string): TimelineRow => ({
  task: null,
  path: "",
  title,
  isCritical,
  segments,
  summary,
  note: "",
});

function buildSupervisorRow(turn: TraceEvent[], reportsS: number, isCritical: boolean): TimelineRow {
  const own = turn.filter((event) => !event.task && !event.within);
  const planned = own.find((event) => event.kind === "plan_created") ?? own.at(-1);
  const startS = turn[0]?.t ?? 0;
  const segments = planned ? [makeSegment("planning", startS, planned.t, "planning")] : [];
  const approved = own.find((event) => event.kind === "plan_approved");
  if (planned?.["awaits_approval"] && approved) segments.push(makeSegment("waiting", planned.t, approved.t, "waits for approval"));
  for (const { kind, t, gap_s } of own) if (kind === "taken_over" && isNumber(gap_s)) segments.push(makeSegment("gap", t - gap_s, t, "no instance at work"));
  segments.push(...readCalls(own.filter((event) => event.t <= reportsS || reportsS === startS)));
  return makeOwnRow("supervisor", isCritical, segments, `planning ${formatSeconds((planned?.t ?? startS) - startS)}`);
}

function buildSynthesisRow(turn: TraceEvent[], reportsS: number, isCritical: boolean): TimelineRow[] {
  const own = turn.filter((event) => !event.task && !event.within && event.t > reportsS);
  const last = own.findLast((event) => event.kind === "answer" || event.kind === "synthesized");
  if (!last || reportsS === turn[0]?.t) return [];
  const segments = [makeSegment("synthesis", reportsS, last.t, "writing the answer"), ...readCalls(own)];
  return [makeOwnRow("synthesizer", isCritical, segments, `writing the answer ${formatSeconds(last.t - reportsS)}`)];
}

/** A kind of bar, with its name. */
interface Mark {
  name: string;
  kind: SegmentKind;
  isFailed: boolean;
}

const NAMES: Readonly<Record<SegmentKind, string>> = {
  waiting: "waiting",
  attempt: "working",
  planning: "planning, writing the answer",
  synthesis: "planning, writing the answer",
  model: "model call",
  tool: "tool call",
  speculative: "began before the plan was complete",
  gap: "no instance at work",
};
/** The kinds whose failed bars look different. */
const FAILED_NAMES: Partial<Record<SegmentKind, string>> = {
  attempt: "attempt without a result",
  model: "failed call",
  tool: "failed call",
};

/** Return the marks that a timeline has, each once; those of failures last. */
export function listMarks(timeline: Timeline): Mark[] {
  const found = new Set(timeline.rows.flatMap((row) => row.segments).map(nameSegment));
  return [...listNamed(NAMES, false), ...listNamed(FAILED_NAMES, true)].filter(({ name }) => found.delete(name));
}

const nameSegment = ({ kind, isFailed }: Segment): string => (isFailed && FAILED_NAMES[kind]) || NAMES[kind];

const listNamed = (names: Partial<Record<SegmentKind, string>>, isFailed: boolean): Mark[] =>
  Object.entries(names).map(([kind, name]) => ({ name, kind: kind as SegmentKind, isFailed }));
