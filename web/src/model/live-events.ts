/** Events that were streamed and may not be kept yet, beside the kept trace. */

import type { Entry } from "./build-trace";

/** Their durations make them unique; a request may be repeated word for word. */
const COMPARED = ["model_call", "tool_call"];
const ENDS = ["answer", "error"];
const time = (entry: Entry) => (typeof entry["t"] === "number" ? entry["t"] : 0);
/** Whether an entry is the first event of a run. */
export const isRequest = (entry: Entry): boolean => entry["kind"] === "request" && !entry["within"];

/** Return the streamed events that the kept entries do not hold, by their time. */
export function dropKept(kept: readonly Entry[], live: readonly Entry[], offset: number): Entry[] {
  const last = findLastTime(kept);
  return live.filter((event) => time(event) + offset > last);
}

/** Return streamed events on the clock of the kept ones. */
export const shiftEvents = (live: readonly Entry[], offset: number): readonly Entry[] =>
  offset ? live.map((event) => ({ ...event, t: time(event) + offset, ...shiftReport(event["report"], offset) })) : live;

function shiftReport(report: unknown, offset: number): { report?: unknown } {
  if (typeof report !== "object" || report === null) return {};
  const shifted = (["started_s", "ended_s"] as const).flatMap((name) => {
    const value = (report as Entry)[name];
    return typeof value === "number" ? [[name, value + offset] as const] : [];
  });
  return { report: { ...report, ...Object.fromEntries(shifted) } };
}

/** Return the seconds that the kept trace adds to a run's clock: that of a follow-up begins at zero again. */
export function findOffset(kept: readonly Entry[], live: readonly Entry[]): number {
  const begun = live.find(isRequest);
  const requests = kept.filter(isRequest).length;
  if (requests === 0 || (requests === 1 && !begun)) return 0;
  for (const event of live.filter((each) => COMPARED.includes(String(each["kind"])))) {
    const same = kept.findLast((entry) => isSame(entry, event));
    if (same) return time(same) - time(event);
  }
  if (!begun) return 0;
  const open = findOpenRequest(kept);
  if (open && open["request"] === begun["request"]) return time(open) - time(begun);
  return Math.max(0, findLastTime(kept) - time(begun)) + 1e-6;
}

/** Return the last request of a kept trace that has no end yet. */
function findOpenRequest(kept: readonly Entry[]): Entry | undefined {
  const last = kept.findLastIndex(isRequest);
  const hasEnded = kept.slice(last + 1).some((entry) => ENDS.includes(String(entry["kind"])) && !entry["within"]);
  return last < 0 || hasEnded ? undefined : kept[last];
}

function findLastTime(entries: readonly Entry[]): number {
  const last = entries.findLast((entry) => "kind" in entry);
  return last ? time(last) : -1;
}

/** Whether two entries are one event: all but the time is equal. */
function isSame(one: Entry, other: Entry): boolean {
  if (one["kind"] !== other["kind"] || one["task"] !== other["task"] || one["seconds"] !== other["seconds"]) return false;
  return JSON.stringify({ ...one, t: 0 }) === JSON.stringify({ ...other, t: 0 });
}
