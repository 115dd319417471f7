import type { RunStatus } from "../model/trace";

const MARKS: Record<RunStatus, [sign: string, words: string]> = {
  running: ["▶", "running"],
  done: ["✓", "done"],
  partial: ["◐", "partial"],
  needs_input: ["?", "waits for an answer"],
  failed: ["✕", "failed"],
  stopped: ["■", "stopped"],
};

/** The status of a run: by sign, words and colour. */
export const StatusMark = ({ status }: { status: RunStatus }) => {
  const [sign, words] = MARKS[status] ?? ["", String(status)];
  return (
    <span class={`run-status run-status-${status}`}>
      <span aria-hidden="true">{sign}</span> {words}
    </span>
  );
};
