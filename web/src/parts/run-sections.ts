import type { RunSection } from "../model/sections";
import { DETAIL_SECTIONS } from "./detail-sections";
import { PlanSection } from "./plan-section";
import { Summary } from "./summary";
import { TimelineSection } from "./timeline-section";

/** What the report and the live page show of a run, from top to bottom. */
export const RUN_SECTIONS: readonly RunSection[] = [
  { id: "summary", title: "Summary", Part: Summary },
  { id: "plan", title: "Plan", Part: PlanSection, isEmpty: (trace) => !trace.tasks.length },
  { id: "timeline", title: "Timeline", Part: TimelineSection, isEmpty: (trace) => !trace.tasks.length },
  ...DETAIL_SECTIONS,
];
