import { PASSAGES_GLYPH } from "../model/run-state";
import type { RunStatus } from "../model/trace";

const MARKS: Record<RunStatus, [sign: string, words: string]> = {
  running: ["▶", "running"],
  done: ["✓", "done"],
  passages: [PASSAGES_GLYPH, "passages found"],
  partial: ["◐", "partial"],
  needs_input: ["?", "waits for an answer"],
  failed: ["✕", "failed"],
  stopped: ["■", "stopped"],
};

export const nameStatus = (status: RunStatus): string => MARKS[status]?.[1] ?? String(status);

/** The status of a run: by sign, words and colour; `unbegun` are the words for one that has not begun. */
export const StatusMark = ({ status, unbegun = "" }: { status: RunStatus; unbegun?: string }) => (
  <span class={`run-status run-status-${status}`}>
    <span aria-hidden="true">{unbegun ? "…" : MARKS[status]?.[0]}</span> {unbegun || nameStatus(status)}
  </span>
);
