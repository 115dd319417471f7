import { findAnswer, listContradictions } from "../model/answer";
import { listPlanVersions } from "../model/plan-versions";
import type { RunSection } from "../model/sections";
import { listSources } from "../model/sources";
import { AnswerSection } from "./answer-section";
import { ContradictionsSection } from "./contradictions-section";
import { CostsSection } from "./costs-section";
import { EventsSection } from "./events-section";
import { PlanVersionsSection } from "./plan-versions-section";
import { SourcesSection } from "./sources-section";

/** What is known of a run besides its pictures. */
export const DETAIL_SECTIONS: readonly RunSection[] = [
  { id: "answer", title: "Answer", Part: AnswerSection, isEmpty: (trace) => !findAnswer(trace) },
  {
    id: "contradictions",
    title: "Contradictions",
    Part: ContradictionsSection,
    isEmpty: (trace) => !listContradictions(trace).length,
  },
  { id: "sources", title: "Sources", Part: SourcesSection, isEmpty: (trace) => !listSources(trace).length },
  {
    id: "plan-versions",
    title: "Plan versions",
    Part: PlanVersionsSection,
    isEmpty: (trace) => !listPlanVersions(trace).some(({ difference, notes, later }) => difference || notes.length || later.length),
  },
  { id: "costs", title: "Costs", Part: CostsSection },
  { id: "events", title: "Events", Part: EventsSection },
];
