/** The trace as a report holds it: the counterpart of graph/pages/report.py. */

import type { Trace, TraceEvent, TracedTask } from "../model/trace";

type Json = Record<string, unknown>;

/** Of the trace in a report, with the page below 5 MB. */
export const MAX_BYTES = 4_000_000;
/** Of one text, from the first that keeps the trace small enough. */
const MAX_CHARS = [200_000, 50_000, 10_000, 4_000, 2_000, 1_000, 500, 200];
/** Events for chat clients, which repeat what others say. */
const LEFT_OUT = ["ui"];
const PLANS = ["plan_created", "plan_revised", "plan_approved"];
/** Events without which a page cannot show when a task was at work. */
const KEPT = ["request", ...PLANS, "task_started", "report", "task_skipped", "answer", "error"];
/** Of JSON in JSON. */
const MAX_DEPTH = 60;

/** Return a trace of about `MAX_BYTES` at most, with what was done to it in its `run`.
 *
 * A plan and a report that an event repeats are left out of it: the page puts them back.
 */
export function shrinkTrace(trace: Trace): Json {
  const events = dropRepeated(trace);
  let shrunk = cutToSize({ ...trace, events });
  let leftOut = {};
  if (shrunk.bytes > MAX_BYTES) {
    const kept = events.filter(({ kind }) => KEPT.includes(String(kind)));
    shrunk = cutToSize({ ...trace, events: kept });
    leftOut = { left_out_events: events.length - kept.length };
  }
  // A file is not live.
  const { now_s: _, ...run } = shrunk.trace["run"] as Json;
  return { ...shrunk.trace, run: { ...run, ...leftOut, cut_texts: shrunk.cutTexts } };
}

/** Return the events, with a plan by its number, and without the report that its task has. */
function dropRepeated({ events, plans, tasks }: Trace): Json[] {
  const reported = new Set(listReported(tasks, ""));
  const lastReports = new Set(new Map(events.filter(({ kind, task }) => kind === "report" && reported.has(task)).map((event) => [event.task, event])).values());
  const planned = events.filter(isPlanned);
  const numbers = new Map(planned.length === plans.length ? planned.map((event, number) => [event, number] as const) : []);
  return events
    .filter(({ kind }) => !LEFT_OUT.includes(kind))
    .map((event) => {
      if (numbers.has(event)) return { ...event, plan: numbers.get(event) };
      if (!lastReports.has(event)) return event;
      const { report: _, ...rest } = event;
      return rest;
    });
}

const isPlanned = (event: TraceEvent) => PLANS.includes(event.kind) && !event.within && Boolean(event["plan"]);

const listReported = (tasks: readonly TracedTask[], within: string): string[] =>
  tasks.flatMap(({ id, report, team }) => [...(report ? [within + id] : []), ...listReported(team?.tasks ?? [], `${within}${id}/`)]);

/** Return a trace with its texts cut at the first limit that suffices. */
function cutToSize(trace: Json): { trace: Json; bytes: number; cutTexts: number } {
  let found = { trace, bytes: Infinity, cutTexts: 0 };
  for (const maxChars of MAX_CHARS) {
    const cutter = new Cutter(maxChars);
    const cut = cutter.cut(trace) as Json;
    found = { trace: cut, bytes: new Blob([JSON.stringify(cut)]).size, cutTexts: cutter.cutTexts };
    if (found.bytes <= MAX_BYTES) break;
  }
  return found;
}

/** Cuts texts at a limit, each with a note of how much is missing, and counts them. */
class Cutter {
  cutTexts = 0;

  constructor(private readonly maxChars: number) {}

  cut(value: unknown, depth = 0): unknown {
    if (typeof value === "string") return this.cutText(value);
    if (typeof value !== "object" || value === null) return value;
    if (depth > MAX_DEPTH) {
      this.cutTexts += 1;
      return "…";
    }
    if (Array.isArray(value)) return value.map((item) => this.cut(item, depth + 1));
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [this.cutText(key), this.cut(item, depth + 1)]));
  }

  private cutText(text: string): string {
    if (text.length <= this.maxChars) return text;
    this.cutTexts += 1;
    return `${text.slice(0, this.maxChars)} … [${(text.length - this.maxChars).toLocaleString("en-US")} characters more]`;
  }
}
