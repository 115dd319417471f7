import { formatSeconds } from "./format";
import { selectTurn } from "./read-trace";
import { labelState } from "./task-view";
import type { Trace, TraceEvent } from "./trace";

/** What of the events is shown; empty values select all. */
interface EventFilter {
  kind: string;
  /** Path of a task; its inner tasks are included. */
  task: string;
  /** Words that are in the event's line, in any case. */
  text: string;
}

/** An event as one line. */
export interface EventLine {
  event: TraceEvent;
  /** Seconds since the request. */
  seconds: number;
  text: string;
  isFailed: boolean;
}

/** Of Studio's display, not of the run. */
const HIDDEN_KINDS: ReadonlySet<string> = new Set(["ui"]);
/** Texts of events, in the order in which they say most. */
const TEXT_KEYS = ["message", "reason", "error", "request", "outcome", "said", "problem"] as const;

/** Return the events since the last request. */
export const listShownEvents = (trace: Trace): TraceEvent[] => selectTurn(trace).filter(({ kind }) => !HIDDEN_KINDS.has(kind));

/** Return those of them that a filter selects, each as one line. */
export function listEventLines(events: readonly TraceEvent[], filter: EventFilter): EventLine[] {
  const words = filter.text.trim().toLowerCase();
  const lines: EventLine[] = [];
  const startS = events[0]?.t ?? 0;
  for (const event of events) {
    if (filter.kind && event.kind !== filter.kind) continue;
    if (filter.task && event.task !== filter.task && !event.task.startsWith(`${filter.task}/`)) continue;
    const line = { event, seconds: event.t - startS, text: describeEvent(event), isFailed: isFailure(event) };
    const searched = `${event.kind} ${event.task} ${event.worker} ${line.text}`.toLowerCase();
    if (!words || searched.includes(words)) lines.push(line);
  }
  return lines;
}

/** Return the kinds of events, sorted. */
export const listKinds = (events: readonly TraceEvent[]): string[] => [...new Set(events.map(({ kind }) => kind))].sort();

/** Return what an event says, in one line. */
function describeEvent(event: TraceEvent): string {
  switch (event.kind) {
    case "model_call":
      return [event["purpose"] ?? event["schema"], event["model"], describeCall(event)].filter(Boolean).join(" · ");
    case "tool_call":
      return [event["tool"], describeCall(event)].join(" · ");
    case "task_started":
      return `attempt ${String(event["attempt"])}${event["rung"] ? `, ${String(event["rung"])}` : ""} · ${String(event["tier"])}`;
    case "report":
      return describeReport(event["report"] as { status?: string; output?: string } | undefined);
    case "plan_created":
    case "plan_revised":
      return `version ${String(event["version"] ?? "")} ${asText(event["reason"])}`.trim();
    case "plan_rejected":
      return listTexts(event["problems"]);
    case "dispatched":
    case "awaiting":
      return listTexts(event["tasks"]);
    default:
      return TEXT_KEYS.map((key) => asText(event[key])).find(Boolean) ?? "";
  }
}

function describeCall(event: TraceEvent): string {
  const tokens = [event["input_tokens"], event["output_tokens"]];
  const counts = tokens[0] == null ? "" : `${tokens.join(" in, ")} out`;
  return [formatSeconds(event["seconds"] as number), counts, asText(event["error"])].filter(Boolean).join(" · ");
}

const describeReport = (report: { status?: string; output?: string } | undefined): string =>
  report ? `${labelState(report.status ?? "")}: ${report.output ?? ""}` : "";

const isFailure = (event: TraceEvent): boolean =>
  ["error", "task_skipped", "plan_rejected", "escalated"].includes(event.kind) ||
  Boolean(event["error"] && event.kind.endsWith("_call")) ||
  (event.kind === "report" && (event["report"] as { status?: string } | undefined)?.status !== "completed");

const asText = (value: unknown): string => (typeof value === "string" ? value : "");
const listTexts = (value: unknown): string => (Array.isArray(value) ? value.map(String).join(", ") : "");
