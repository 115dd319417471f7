/** The trace of a run, as `supervise trace THREAD` prints it. All texts are data of models, tools and users. */

import type { Remedy } from "./asides";

export type Tier = "fast" | "standard" | "strong";
export type RunStatus = "running" | "done" | "passages" | "partial" | "needs_input" | "failed" | "stopped";
export type TaskStatus = "waiting" | "working" | "completed" | "failed" | "skipped" | "escalated";

export interface Usage {
  model_calls: number;
  input_tokens: number;
  output_tokens: number;
  /** Null or absent: the price is not known. */
  cost_usd?: number | null;
  seconds?: number;
  models?: string[];
  /** Calls whose endpoint reported no tokens. */
  uncounted_calls?: number;
  /** Of tasks that have ended, what they waited for outside the process, and what of it together. */
  waited_s?: number;
  overlapped_s?: number;
}

/** What is expected of a run; nine of ten end between `low` and `high`. */
export interface Estimate extends Usage {
  low?: Partial<Usage>;
  high?: Partial<Usage>;
}

export interface RunUsage extends Usage {
  estimate?: Estimate | null;
}

export interface Dependency {
  task: string;
  /** False: the task runs without this result when it fails. */
  required: boolean;
}

export interface PlannedTask {
  id: string;
  description: string;
  worker: string;
  depends_on: Dependency[];
  materials?: string[];
  tier?: Tier | null;
  /** The parts of the request that it answers. */
  covers?: string[];
}

export interface Plan {
  goal: string;
  tasks: PlannedTask[];
  version: number;
}

export type Proof = "quoted" | "computed" | "returned" | "stated" | "unproved";

export interface Claim {
  text: string;
  source?: string | null;
  quotation?: string | null;
  proof?: Proof | null;
  doubt?: string | null;
}

export interface Finding {
  severity?: string;
  [key: string]: unknown;
}

export interface Report {
  worker: string;
  status: TaskStatus;
  output: string;
  claims?: Claim[];
  findings?: Finding[];
  confidence?: number | null;
  escalation?: { reason?: string; message?: string } | null;
  gaps?: string[];
  found_as_expected?: boolean | null;
  taint_labels?: string[];
  error?: string | null;
  started_s?: number | null;
  ended_s?: number | null;
  [key: string]: unknown;
}

/** A task of the last plan, with what became of it. */
export interface TracedTask extends PlannedTask {
  status: TaskStatus;
  report: Report | null;
  /** Why it was skipped. */
  reason?: string | null;
  /** The run of the team that did it. */
  team?: { name: string; plans: Plan[]; tasks: TracedTask[] };
}

/** Something that happened `t` seconds after the start; the other keys depend on its kind. */
export interface TraceEvent {
  t: number;
  kind: string;
  /** Path of the task, `outer/inner` inside a team; empty for the supervisor. */
  task: string;
  worker: string;
  /** Path of the task whose team did it; absent for the outer run. */
  within?: string;
  [key: string]: unknown;
}

export interface Run {
  thread?: string;
  team?: string;
  /** ISO 8601. */
  started?: string;
  /** The same for the clock of its last events. */
  clock_started?: string;
  request?: string;
  /** That a user gave its thread. */
  title?: string;
  status: RunStatus;
  models?: Record<string, string>;
  materials?: string[];
  /** Files of earlier requests. */
  kept_materials?: string[];
  resumed?: number;
  questions?: unknown[];
  /** Of a run that is watched at work: the time now, in seconds on the clock of its events. */
  now_s?: number;
  /** The beginning of its answer, while that is written. */
  written?: string;
  [key: string]: unknown;
}

export interface Timing {
  wall_s?: number;
  planning_s?: number;
  sequential_s?: number;
  critical_path_s?: number;
  speedup?: number | null;
  critical_path?: string[];
}

export interface Trace {
  version: 1;
  run: Run;
  plans: Plan[];
  tasks: TracedTask[];
  events: TraceEvent[];
  usage: RunUsage;
  timing: Timing;
  /** Why it is not whole, as the program has found out. */
  why?: Cause[];
  /** What the run has written, where its server gives it. */
  documents?: RunDocument[];
}

/** A first cause of what a run lacks. */
export interface Cause {
  sentence: string;
  /** Paths of all tasks that lack something for it. */
  tasks: string[];
  remedies: Remedy[];
}

/** A document that a run has written. */
export interface RunDocument {
  name: string;
  /** In Base64. */
  content: string;
}
