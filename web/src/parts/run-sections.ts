import { findAnswer, listContradictions } from "../model/answer";
import { sumCosts } from "../model/costs";
import { listGaps } from "../model/gaps";
import { listPlanVersions } from "../model/plan-versions";
import { listSources } from "../model/sources";
import type { Trace } from "../model/trace";
import { AnswerSection } from "./answer-section";
import { ContradictionsSection } from "./contradictions-section";
import { CostsSection } from "./costs-section";
import { EventsSection } from "./events-section";
import { GapsSection } from "./gaps-section";
import { PlanSection } from "./plan-section";
import { PlanVersionsSection } from "./plan-versions-section";
import { SourcesSection } from "./sources-section";
import { TimelineSection } from "./timeline-section";
import type { ComponentType } from "preact";

const ANSWER: RunSection = { id: "answer", title: "Answer", Part: AnswerSection, isEmpty: (trace) => !findAnswer(trace) };

/** What limits and supports the answer, beside it. */
const BESIDE: readonly RunSection[] = [
  { id: "gaps", title: "What is missing", Part: GapsSection, isEmpty: (trace) => !listGaps(trace).length },
  { id: "contradictions", title: "Contradictions", Part: ContradictionsSection, isEmpty: (trace) => !listContradictions(trace).length },
  { id: "sources", title: "Sources", Part: SourcesSection, isEmpty: (trace) => !listSources(trace).length },
];

export const MADE = { id: "made", title: "How it was made" };

/** How the run came to it, folded once there is an answer. */
const MADE_SECTIONS: readonly RunSection[] = [
  { id: "plan", title: "Plan", Part: PlanSection, isEmpty: (trace) => !trace.tasks.length },
  { id: "timeline", title: "Timeline", Part: TimelineSection, isEmpty: (trace) => !trace.tasks.length },
  {
    id: "plan-versions",
    title: "Plan versions",
    Part: PlanVersionsSection,
    isEmpty: (trace) => !listPlanVersions(trace).some(({ difference, notes, later }) => difference || notes.length || later.length),
  },
  { id: "costs", title: "Costs", Part: CostsSection, isEmpty: (trace) => !sumCosts(trace, "purpose").length },
  { id: "events", title: "What happened", Part: EventsSection },
];

const select = (sections: readonly RunSection[], trace: Trace) => sections.filter(({ isEmpty }) => !isEmpty?.(trace));

/** What the report and the live page show of a run: the answer, what is beside it, and how it was made. */
export const selectSections = (trace: Trace) => ({
  answer: select([ANSWER], trace),
  beside: select(BESIDE, trace),
  made: select(MADE_SECTIONS, trace),
});

/** Return the links to the parts of a run, from top to bottom. */
export function listRunLinks(trace: Trace): { id: string; title: string }[] {
  const { answer, beside } = selectSections(trace);
  return [...answer, ...beside, MADE];
}

/** A part of the page about a run; `isEmpty` leaves it out where a trace has nothing for it. */
export interface RunSection {
  id: string;
  title: string;
  Part: ComponentType<{ trace: Trace }>;
  isEmpty?: (trace: Trace) => boolean;
}
