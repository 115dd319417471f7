import type { RunSection } from "../model/sections";
import { Summary } from "./summary";

/** What the report and the live page show of a run, from top to bottom. */
export const RUN_SECTIONS: readonly RunSection[] = [{ id: "summary", title: "Summary", Part: Summary }];
