import { asRecord, asText, isNumber } from "./json";
import type { Report, TraceEvent } from "./trace";

/** What a worker was given for an attempt, beside the description of its task. */
export interface Handoff {
  /** Ids of the tasks whose reports were in it. */
  given?: string[];
  /** Characters of each material. */
  materials?: Record<string, number>;
  /** Set if it is not the plan's. */
  description?: string;
  /** What was wrong with the attempt before. */
  earlier?: string;
  /** A human's answers, by question. */
  answers?: Record<string, string>;
  /** Of a specialist that was made for the task. */
  instructions?: string;
  timeout_s?: number;
  max_turns?: number;
  max_tokens?: number;
}

export interface Attempt {
  number: number;
  /** What led to it, such as `tier`; empty for the first one. */
  rung: string;
  worker: string;
  tier: string;
  startS: number;
  /** Null while it is at work. */
  endS: number | null;
  handoff: Handoff;
  /** Why its result was not accepted; empty for one that was, or is not known yet. */
  problem: string;
  /** Of the rewritten description, where there is one. */
  refined: string;
  /** It led to a result, which a resume or a critic may have asked for again. */
  isCompleted: boolean;
  /** The run stopped during it; a resume began it again. */
  isCutOff: boolean;
  /** Its calls of models and tools, in the order of their ends. */
  calls: TraceEvent[];
}

const RUNG_NAMES: ReadonlyMap<string, string> = new Map([
  ["", "first attempt"],
  ["refine", "new words"],
  ["form", "asked in another way"],
  ["tier", "stronger model"],
  ["reassign", "other worker"],
  ["split", "smaller tasks"],
  ["assume", "an assumption"],
  ["human", "a human was asked"],
]);

/** Return a rung of the recovery ladder in plain words. */
export const nameRung = (rung: string): string => RUNG_NAMES.get(rung) ?? rung;

const CALL_KINDS: ReadonlySet<string> = new Set([
  "model_call",
  "tool_call",
  "speculated",
  "remote_started",
  "remote_event",
  "remote_ended",
]);

/** Return the attempts at a task, from its own events; calls before the first one belong to it. */
export function listAttempts(events: readonly TraceEvent[]): Attempt[] {
  const attempts: Attempt[] = [];
  const early: TraceEvent[] = [];
  for (const event of events) {
    const current = attempts.at(-1);
    if (event.kind === "task_started") {
      if (current) {
        current.isCutOff = current.endS === null && event["attempt"] === current.number;
        endAttempt(current, event.t, current.isCutOff ? "" : (asRecord(event["handoff"]) as Handoff).earlier);
      }
      attempts.push(beginAttempt(event, attempts.length + 1));
    } else if (CALL_KINDS.has(event.kind)) (current?.calls ?? early).push(event);
    else if (current) applyEvent(current, event);
  }
  attempts[0]?.calls.unshift(...early);
  return attempts;
}

function beginAttempt(event: TraceEvent, number: number): Attempt {
  return {
    number: isNumber(event["attempt"]) ? event["attempt"] : number,
    rung: asText(event["rung"]),
    worker: event.worker,
    tier: asText(event["tier"]),
    startS: event.t,
    endS: null,
    handoff: asRecord(event["handoff"]),
    problem: "",
    refined: "",
    isCompleted: false,
    isCutOff: false,
    calls: [],
  };
}

function endAttempt(attempt: Attempt, t: number, problem: string | undefined): void {
  attempt.endS ??= t;
  attempt.problem ||= problem ?? "";
}

function applyEvent(attempt: Attempt, event: TraceEvent): void {
  const reason = asText(event["reason"]);
  if (event.kind === "refined") {
    endAttempt(attempt, event.t, asText(event["error"]));
    attempt.refined = reason;
  } else if (event.kind === "escalated") {
    endAttempt(attempt, event.t, `${reason.replaceAll("_", " ")}: ${asText(event["message"])}`);
  } else if (event.kind === "split" || event.kind === "reassigned") endAttempt(attempt, event.t, reason);
  else if (event.kind === "report") {
    const report = event["report"] as Report | undefined;
    endAttempt(attempt, event.t, findProblem(report));
    attempt.isCompleted = report?.status === "completed";
  }
}

const findProblem = (report: Report | undefined): string =>
  report && report.status !== "completed" ? (report.error ?? report.escalation?.message ?? report.output) : "";
