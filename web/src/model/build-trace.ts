/** The trace of a thread, from the entries that its server keeps: the counterpart of graph/runs/trace.py. */

import { groupBy } from "./group-by";
import { isRecord, type Json } from "./json";
import { selectLastRequest } from "./read-trace";
import type { Plan, RunStatus, RunUsage, TaskStatus, Trace, TracedTask, TraceEvent, Usage } from "./trace";

/** A line of a kept trace: an event, or a note of a run's start or end. */
export type Entry = Json;

const PLAN_KINDS = ["plan_created", "plan_revised", "plan_approved"];
const SHOWN_OF_REQUEST = ["request", "models", "materials", "kept_materials"];

export const isEvent = (entry: Entry): entry is TraceEvent & Entry =>
  typeof entry["kind"] === "string" && typeof entry["t"] === "number";

/** Return the entry of a line; null for one that cannot be read. */
export function readLine(line: unknown): Entry | null {
  if (typeof line !== "string") return null;
  try {
    const entry: unknown = JSON.parse(line);
    return isRecord(entry) ? normalize(entry) : null;
  } catch {
    return null;
  }
}

/** Return an entry whose event has a task and a worker, as all parts of the page expect; null for none. */
export function normalize(entry: Entry): Entry | null {
  if (!("kind" in entry)) return entry;
  if (!isEvent(entry)) return null;
  return { ...entry, task: String(entry.task ?? ""), worker: String(entry.worker ?? "") };
}

/** Return every event, and the tasks and figures of the last request. */
export function buildTrace(entries: readonly Entry[]): Trace {
  const events = entries.filter(isEvent) as TraceEvent[];
  const notes = entries.filter((entry) => !("kind" in entry));
  const turn = selectLastRequest(events);
  const answer = selectOwn(turn, "").findLast((event) => event.kind === "answer");
  return {
    version: 1,
    run: buildRun(notes, events, turn, answer),
    plans: listPlans(selectOwn(events, "")),
    tasks: buildTasks(turn, ""),
    events,
    usage: (answer?.["usage"] as RunUsage | undefined) ?? { ...sumUsage(entries), ...findEstimate(turn) },
    timing: (answer?.["timing"] as Trace["timing"] | undefined) ?? { wall_s: measureSpan(turn) },
  };
}

const selectOwn = (events: TraceEvent[], within: string) => events.filter((event) => (event.within ?? "") === within);

function buildRun(notes: Entry[], events: TraceEvent[], turn: TraceEvent[], answer?: TraceEvent): Trace["run"] {
  const run: Record<string, unknown> = { resumed: notes.filter((note) => "resumed" in note).length };
  for (const note of notes) Object.assign(run, note["run"]);
  const request = turn.find((event) => event.kind === "request");
  for (const name of SHOWN_OF_REQUEST) if (request && name in request) run[name] = request[name];
  const status = (answer?.["status"] as RunStatus | undefined) ?? findUnended(notes, turn.at(-1));
  return { ...run, status, events: events.length };
}

/** Return when the clock of the last events would have begun, as it stands still between the starts of a run; empty if unknown. */
export function findClockStart(entries: readonly Entry[]): string {
  const at = entries.findLastIndex((entry) => "resumed" in entry || "run" in entry);
  const { resumed, run } = (entries[at] ?? {}) as { resumed?: string; run?: { started?: string } };
  const ms = Date.parse(resumed ?? run?.started ?? "") - 1000 * (entries.slice(at).find(isEvent)?.t ?? NaN);
  return Number.isNaN(ms) ? "" : new Date(ms).toISOString();
}

/** Return the status of a run without an answer, by its last note and its last event. */
function findUnended(notes: Entry[], last?: TraceEvent): RunStatus {
  if (last?.kind === "error") return "failed";
  const note = notes.at(-1) ?? {};
  if ("stopped" in note) return "stopped";
  return "asked" in note ? "needs_input" : "running";
}

const listPlans = (events: TraceEvent[]): Plan[] =>
  events.filter((event) => PLAN_KINDS.includes(event.kind) && event["plan"]).map((event) => event["plan"] as Plan);

/** Return the tasks of the last plan with their states; a team's task holds the team's tasks. */
function buildTasks(turn: TraceEvent[], within: string): TracedTask[] {
  const plan = listPlans(selectOwn(turn, within)).at(-1);
  const byTask = groupBy(turn, ({ task }) => task);
  const teams = new Set(turn.map((event) => event.within));
  return (plan?.tasks ?? []).map((task) => {
    const path = [within, task.id].filter(Boolean).join("/");
    const own = selectOwn(byTask.get(path) ?? [], within);
    const team = teams.has(path) ? buildNestedRun(turn, path) : undefined;
    return { ...task, ...findTaskStatus(own), ...(team ? { team } : {}) };
  });
}

function buildNestedRun(turn: TraceEvent[], path: string): NonNullable<TracedTask["team"]> {
  const last = selectLastRequest(turn, path);
  const started = last.find((event) => event.kind === "request");
  return {
    name: String(started?.["team"] ?? ""),
    plans: listPlans(selectOwn(last, path)),
    tasks: buildTasks(last, path),
  };
}

function findTaskStatus(events: TraceEvent[]): Pick<TracedTask, "status" | "report" | "reason"> {
  let found: Pick<TracedTask, "status" | "report" | "reason"> = { status: "waiting", report: null };
  for (const event of events) {
    const report = event["report"] as TracedTask["report"];
    if (event.kind === "task_started") found = { status: "working", report: null };
    else if (event.kind === "report" && report) found = { status: report.status as TaskStatus, report };
    else if (event.kind === "task_skipped") {
      found = { status: "skipped", report: null, reason: (event["reason"] as string | undefined) ?? null };
    }
  }
  return found;
}

/** Return what was expected of the run when its first plan was made. */
function findEstimate(turn: TraceEvent[]): Pick<RunUsage, "estimate"> {
  const planned = turn.find((event) => event.kind === "plan_created" && !event.within && event["estimate"]);
  return planned ? { estimate: planned["estimate"] as RunUsage["estimate"] } : {};
}

/** Return the usage of the model calls since a request was last accepted. */
function sumUsage(entries: readonly Entry[]): RunUsage {
  const start = entries.findLastIndex((entry) => "run" in entry);
  const calls = entries
    .slice(start + 1)
    .filter((entry) => entry["kind"] === "model_call" && "input_tokens" in entry);
  return calls.reduce<Usage>(addCall, {
    model_calls: 0,
    input_tokens: 0,
    output_tokens: 0,
    cost_usd: 0,
    seconds: 0,
    models: [],
    uncounted_calls: 0,
    waited_s: 0,
    overlapped_s: 0,
  });
}

const number = (value: unknown) => (typeof value === "number" ? value : 0);

function addCall(sum: Usage, call: Entry): Usage {
  const cost = call["cost_usd"] as number | null | undefined;
  const model = call["model"] ? [String(call["model"])] : [];
  return {
    ...sum,
    model_calls: sum.model_calls + 1,
    input_tokens: sum.input_tokens + number(call["input_tokens"]),
    output_tokens: sum.output_tokens + number(call["output_tokens"]),
    cost_usd: sum.cost_usd == null || cost == null ? null : sum.cost_usd + cost,
    seconds: number(sum.seconds) + number(call["seconds"]),
    models: [...new Set([...(sum.models ?? []), ...model])],
    uncounted_calls: number(sum.uncounted_calls) + (call["uncounted"] ? 1 : 0),
  };
}

const measureSpan = (turn: TraceEvent[]) => (turn.length ? turn.at(-1)!.t - turn[0]!.t : 0);
