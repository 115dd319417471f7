import { findAnswer } from "./answer";
import { groupBy } from "./group-by";
import { oncePerTrace } from "./once-per-trace";
import { listProblems, type Problem } from "./problems";
import { viewTasks } from "./task-view";
import type { Trace } from "./trace";

/** Something that the answer lacks. */
export interface Gap {
  text: string;
  /** Gaps that begin with the same words, about something else. */
  others: string[];
  /** Tasks without a result; the text is why. */
  problem?: Problem;
}

/** What differs between gaps of one kind: quotations, names of files and tasks, figures. */
const NAMES = /“[^”]*”|"[^"]*"|`[^`]*`|\S*[\d_./#]\S*/gu;
const KIND_WORDS = 4;
/** Shorter reasons may be in a gap by chance. */
const MIN_REASON_CHARS = 12;

/** Return what is missing, each kind once: what was not answered, tasks without a result, and other gaps. */
export const listGaps = oncePerTrace((trace: Trace): Gap[] => {
  const answer = findAnswer(trace);
  const all = listProblems(viewTasks(trace));
  // What a task had nothing to do for is among the answer's gaps, where it matters.
  const problems = answer ? all.filter(({ state, tasks }) => state !== "skipped" || tasks.some(({ traced }) => !traced.report)) : all;
  const reasons = problems.map(({ reason }) => reason).filter((reason) => reason.length >= MIN_REASON_CHARS);
  const gaps = (answer?.gaps ?? []).filter((gap) => !reasons.some((reason) => gap.includes(reason)));
  // The request itself stands above: it is a part of its own only where nothing else is said.
  const parts = (answer?.unanswered ?? []).filter((part) => part.trim() !== trace.run.request?.trim() || !(problems.length || gaps.length));
  return [
    ...groupGaps(parts),
    ...problems.map((problem) => ({ text: problem.reason, others: [], problem })),
    ...groupGaps(gaps),
  ];
});

/** Return texts, each with those of its kind behind it. */
export const groupGaps = (texts: readonly string[]): Gap[] =>
  [...groupBy(new Set(texts), nameKind).values()].map(([text, ...others]) => ({ text: text!, others }));

const nameKind = (text: string): string =>
  text.startsWith("not proved: ") ? "not proved" : text.replace(NAMES, "·").split(/\s+/).slice(0, KIND_WORDS).join(" ").toLowerCase();
