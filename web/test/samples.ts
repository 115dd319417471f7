import { readTrace } from "../src/model/read-trace";
import type { Trace, TraceEvent } from "../src/model/trace";

/** An event at `t` seconds. */
export const makeEvent = (t: number, kind: string, more: Record<string, unknown> = {}): TraceEvent => ({
  t,
  kind,
  task: "",
  worker: "",
  ...more,
});

/** A task of a plan; a need that ends in `?` is optional. */
export const makeTask = (id: string, needs: string[] = [], more: Record<string, unknown> = {}) => ({
  id,
  description: `Do ${id}.`,
  worker: "reader",
  depends_on: needs.map((need) => ({ task: need.replace("?", ""), required: !need.endsWith("?") })),
  materials: [] as string[],
  tier: null,
  ...more,
});

/** A completed report. */
export const makeReport = (task: string, more: Record<string, unknown> = {}) => ({
  task,
  worker: "reader",
  status: "completed",
  output: `${task} is done.`,
  claims: [],
  ...more,
});

interface TraceParts {
  plans?: unknown[];
  tasks?: unknown[];
  events?: TraceEvent[];
  usage?: Record<string, unknown>;
}

/** A trace as the page reads it. */
export function makeTrace({ plans = [], tasks = [], events = [], usage = {} }: TraceParts): Trace {
  const run = { request: "What?", status: "done" };
  return readTrace({ version: 1, run, plans, tasks, events, usage, timing: {} })!;
}
