import type { TaskState } from "./task-view";
import { formatMoment, formatSeconds } from "./format";
import { findStart } from "./read-trace";
import type { RunStatus, Trace, TraceEvent } from "./trace";

export const PASSAGES_GLYPH = "❝";
/** What the status `passages` says. */
export const PASSAGES = "Passages found; no language model has read them";

export interface RunState {
  label: string;
  /** The state of a task with the same colour, or one of its own. */
  color: TaskState | "passages";
  /** What a reader must know of a run without an answer of its own; empty for others. */
  note: string;
  /** What it asks, and waits for. */
  questions: string[];
}

/** The sign, the words and the colour of each status. */
export const STATES: Readonly<Record<RunStatus, { sign: string; words: string; color: RunState["color"] }>> = {
  done: { sign: "✓", words: "done", color: "done" },
  passages: { sign: PASSAGES_GLYPH, words: "passages found", color: "passages" },
  partial: { sign: "◐", words: "partial", color: "escalated" },
  failed: { sign: "✕", words: "failed", color: "failed" },
  stopped: { sign: "■", words: "stopped", color: "skipped" },
  needs_input: { sign: "?", words: "waits for an answer", color: "escalated" },
  running: { sign: "▶", words: "running", color: "working" },
};

/** Return what became of a run, in words. */
export function describeRun(trace: Trace): RunState {
  const { run } = trace;
  const { sign, words, color } = Object.hasOwn(STATES, run.status) ? STATES[run.status] : STATES.running;
  const isOpen = words === "running" && run.now_s === undefined; // a file is not live
  const label = isOpen ? "● not ended" : `${sign} ${words}`;
  return { label, color, note: describeOpenEnd(trace), questions: (run.questions ?? []).map(describeQuestion) };
}

function describeOpenEnd(trace: Trace): string {
  const { run, events } = trace;
  const last = events.at(-1);
  const at = formatSeconds((last?.t ?? 0) - findStart(trace));
  switch (run.status) {
    case "running":
      if (run.now_s !== undefined) return "";
      return events.some((event) => event.kind === "task_started")
        ? `The run has not ended: this is what had happened ${at} after its start. It is still running, or was interrupted.`
        : `The run has not ended: no task had begun ${at} after its start.`;
    case "stopped":
      return events.some((event) => event.kind === "task_started")
        ? "The run was stopped; it can be resumed."
        : "The run was stopped before a task began; it can be resumed.";
    case "needs_input":
      return `Waiting for you since ${formatMoment(run.clock_started || run.started, last?.t)}.`;
    case "failed":
      return last?.kind === "error" ? describeError(last) : "";
    case "passages":
      return `${PASSAGES}.`;
    default:
      return "";
  }
}

/** Return why a run ended, and what helps where the program says it. */
function describeError({ code, error, message, next }: TraceEvent): string {
  const why = String(error ?? message ?? "");
  const words = code === "PLAN_INVALID" ? `The run has ended: ${why}` : `The run ended with an error: ${why}`;
  return next ? `${words}. What helps: ${String(next)}.` : words;
}

function describeQuestion(question: unknown): string {
  const { kind, task, worker, tool, call_args: args, question: words, is } = Object(question) as Record<string, unknown>;
  if (kind === "plan") return "Run this plan?";
  const asker = String(task || worker || "a worker");
  if (kind === "tool_call") return `${asker} wants to call ${String(tool)} ${JSON.stringify(args ?? {})}: may it?`;
  return `${asker} asks: ${typeof words === "string" ? words : JSON.stringify(is ?? question)}`;
}
