import { oncePerTrace } from "./once-per-trace";
import { selectTurn } from "./read-trace";
import { describeAnswered, describeEvent, nameDoer } from "./sentences";
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

/** Return the events since the last request. */
export const listShownEvents = (trace: Trace): TraceEvent[] => selectTurn(trace).filter(({ kind }) => !HIDDEN_KINDS.has(kind));

/** Return those of them that a filter selects, each as one line. */
export function listEventLines(events: readonly TraceEvent[], { kind, task, text: searched }: EventFilter): EventLine[] {
  const words = searched.trim().toLowerCase();
  const startS = events[0]?.t ?? 0;
  return events
    .filter((event) => (!kind || event.kind === kind) && (!task || event.task === task || event.task.startsWith(`${task}/`)))
    .map((event) => ({ event, seconds: event.t - startS, text: describeEvent(event), isFailed: isFailure(event) }))
    .filter(({ event, text }) => `${event.kind} ${event.task} ${event.worker} ${text}`.toLowerCase().includes(words));
}

/** Return the kinds of events, sorted. */
export const listKinds = (events: readonly TraceEvent[]): string[] => [...new Set(events.map(({ kind }) => kind))].sort();

const isFailure = (event: TraceEvent): boolean =>
  ["error", "task_skipped", "plan_rejected", "escalated"].includes(event.kind) ||
  Boolean(event["error"] && event.kind.endsWith("_call")) ||
  (event.kind === "report" && !["completed", "skipped"].includes((event["report"] as { status?: string } | undefined)?.status ?? ""));

/** What a reader follows; the others are about how it is done. */
const TOLD: ReadonlySet<string> = new Set(
  "request plan_created plan_revised plan_rejected plan_approved awaiting task_started tool_call report task_skipped refined reassigned split recruited deadline budget criticized remote_event error answer".split(" "),
);

/** Something that happened, and who did it. */
export interface Told extends EventLine {
  who: string;
}

/** Return what has happened since the last request, in sentences; calls of one tool by one task, one after another, are one. */
export const listTold = oncePerTrace((trace: Trace): Told[] => {
  const events = listShownEvents(trace);
  const startS = events[0]?.t ?? 0;
  const groups: TraceEvent[][] = [];
  const last = new Map<string, TraceEvent[]>();
  for (const event of events) {
    if (!TOLD.has(event.kind)) continue;
    const before = last.get(event.task);
    if (before && event.kind === "tool_call" && before[0]!.kind === event.kind && before[0]!["tool"] === event["tool"] && !isFailure(event) && !isFailure(before[0]!)) before.push(event);
    else {
      const group = [event];
      groups.push(group);
      last.set(event.task, group);
    }
  }
  return groups.flatMap(([first, ...again]) => {
    const event = first!;
    const seconds = event.t - startS;
    const text = event.kind === "request" ? "plans the work" : describeEvent(event, again);
    const answered = describeAnswered(event);
    return [
      ...(answered ? [{ event, who: "You", seconds, text: answered, isFailed: false }] : []),
      { event, who: nameDoer(event), seconds, text, isFailed: isFailure(event) },
    ];
  });
});
