/** The status of a run of a server. */

import type { RunStatus } from "./trace";

/** What the graph says of a thread's last run. */
export interface RunView {
  request?: string;
  /** Those of the thread, in their order. */
  requests?: string[];
  status?: string;
  is_in_progress?: boolean;
  started?: string | null;
  wall_s?: number | null;
  questions?: unknown[];
}

/** Those of runs that have ended. */
export const ENDED: readonly RunStatus[] = ["done", "passages", "partial", "failed"];

/** Return the status; the server knows whether a run without an end is at work. */
export function chooseStatus(view: RunView, threadStatus: string): RunStatus {
  if (threadStatus === "busy") return "running";
  if (view.questions?.length) return "needs_input";
  const ended = ENDED.find((status) => status === view.status);
  if (ended && !view.is_in_progress) return ended;
  return threadStatus === "error" ? "failed" : "stopped";
}
