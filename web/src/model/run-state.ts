import type { TaskState } from "./task-view";
import { formatSeconds } from "./format";
import type { RunStatus, Trace } from "./trace";

export interface RunState {
  label: string;
  /** The state of a task with the same colour. */
  color: TaskState;
  /** What a reader must know of a run without an answer; empty for others. */
  note: string;
}

const STATES: Readonly<Record<RunStatus, Omit<RunState, "note">>> = {
  done: { label: "✓ done", color: "done" },
  partial: { label: "! partial", color: "escalated" },
  failed: { label: "✕ failed", color: "failed" },
  stopped: { label: "■ stopped", color: "skipped" },
  needs_input: { label: "? waits for an answer", color: "working" },
  running: { label: "● not ended", color: "working" },
};

/** Return what became of a run, in words. */
export function describeRun(trace: Trace): RunState {
  const state = Object.hasOwn(STATES, trace.run.status) ? STATES[trace.run.status] : STATES.running;
  return { ...state, note: describeOpenEnd(trace) };
}

function describeOpenEnd({ run, events }: Trace): string {
  const last = events.at(-1);
  const at = formatSeconds(last?.t ?? 0);
  switch (run.status) {
    case "running":
      if (run.now_s !== undefined) return "";
      return events.some((event) => event.kind === "task_started")
        ? `The run has not ended: this is what had happened ${at} after its start. It is at work, or was cut off.`
        : `The run has not ended: no task had begun ${at} after its start.`;
    case "stopped":
      return `The run was stopped ${at} after its start; it can be resumed.`;
    case "needs_input":
      return `The run waits for an answer since ${at} after its start.`;
    case "failed":
      return last?.kind === "error" ? `The run ended with an error: ${String(last["error"] ?? last["message"] ?? "")}` : "";
    default:
      return "";
  }
}
