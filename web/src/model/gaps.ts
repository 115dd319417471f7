import { findAnswer } from "./answer";
import { groupBy } from "./group-by";
import { oncePerTrace } from "./once-per-trace";
import { viewTasks, flattenTasks, type TaskState, type TaskView } from "./task-view";
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
  const unanswered = answer?.unanswered ?? [];
  const isSaid = (gap: string) => reasons.some((reason) => gap.includes(reason)) || unanswered.some((part) => gap.endsWith(`: ${part}`));
  const gaps = (answer?.gaps ?? []).filter((gap) => !isSaid(gap));
  // The request itself stands above: it is a part of its own only where nothing else is said.
  const isNamed = (part: string) => part.trim() === trace.run.request?.trim() ? problems.length || gaps.length : gaps.some((gap) => /^[“„]/.test(gap) && gap.startsWith(part, 1));
  const parts = unanswered.filter((part) => !isNamed(part));
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

/** Tasks without a result for the same reason. */
interface Problem {
  state: TaskState;
  reason: string;
  tasks: TaskView[];
}

const ORDER: readonly TaskState[] = ["failed", "escalated", "cut off", "skipped", "not run"];

/** Return why tasks have no result, each reason once, those of failed tasks first; a team's is that of its own tasks. */
export function listProblems(tasks: readonly TaskView[]): Problem[] {
  const isOpen = ({ state }: TaskView) => ORDER.includes(state);
  const open = flattenTasks(tasks).filter((task) => isOpen(task) && !flattenTasks(task.inner).some(isOpen));
  const found = [...groupBy(open, (task) => `${task.state}:${findReason(task)}`).values()];
  return found.map((group) => ({ state: group[0]!.state, reason: findReason(group[0]!), tasks: group })).sort(
    (one, other) => ORDER.indexOf(one.state) - ORDER.indexOf(other.state) || other.tasks.length - one.tasks.length,
  );
}

function findReason({ state, traced }: TaskView): string {
  const { report, reason } = traced;
  if (state === "skipped") return reason ?? "";
  return report?.error || report?.escalation?.message || report?.output || "";
}
