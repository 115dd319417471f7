import type { Segment, SegmentKind, Timeline } from "./timeline";

/** A kind of bar, with its name. */
export interface Mark {
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
