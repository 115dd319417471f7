import type { RunPanel } from "./live-run";
import { OpenQuestions } from "./open-questions";

/** What is shown above a run, from top to bottom. */
export const RUN_PANELS: readonly RunPanel[] = [OpenQuestions];
