import type { RunStatus } from "../model/trace";

const MARKS: Record<RunStatus, [sign: string, words: string]> = {
  running: ["▶", "running"],
  done: ["✓", "done"],
  partial: ["◐", "partial"],
  needs_input: ["?", "waits for an answer"],
  failed: ["✕", "failed"],
  stopped: ["■", "stopped"],
};

export const nameStatus = (status: RunStatus): string => MARKS[status]?.[1] ?? String(status);

/** The status of a run: by sign, words and colour. */
export const StatusMark = ({ status, isQueued = false }: { status: RunStatus; isQueued?: boolean }) => (
  <span class={`run-status run-status-${status}`}>
    <span aria-hidden="true">{isQueued ? "…" : MARKS[status]?.[0]}</span> {isQueued ? "in the queue" : nameStatus(status)}
  </span>
);
