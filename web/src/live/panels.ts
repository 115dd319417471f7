import { QuestionsPanel } from "../questions/questions-panel";
import { StopPanel } from "../stopping/stop-panel";
import type { RunPanel } from "./live-run";

/** What is shown above a run, from top to bottom. */
export const RUN_PANELS: readonly RunPanel[] = [QuestionsPanel, StopPanel];
