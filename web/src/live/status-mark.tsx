import { STATES } from "../model/run-state";
import type { RunStatus } from "../model/trace";

export const nameStatus = (status: RunStatus): string => STATES[status]?.words ?? String(status);

/** The status of a run: by sign, words and colour; `unbegun` are the words for one that has not begun. */
export const StatusMark = ({ status, unbegun = "" }: { status: RunStatus; unbegun?: string }) => (
  <span class={`run-status state-${STATES[status]?.color}`}>
    <span aria-hidden="true">{unbegun ? "…" : STATES[status]?.sign}</span> {unbegun || nameStatus(status)}
  </span>
);
