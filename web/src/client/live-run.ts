/** What parts of the live page know of the run that is shown, and what they can do with it. */

import { findDependants } from "../plan-editor/draft";
import { toLine } from "../model/plain-text";
import { quoteTask } from "../model/plan-versions";
import type { Plan, PlannedTask } from "../model/trace";
import type { WatchedRun } from "./run-watch";
import { readBlock, type WrittenRequest } from "./files";
import { Problem } from "./problem";
import { ask, TITLE, type Server } from "./server";

export interface LiveRun extends WatchedRun {
  server: Server;
  /** Look at once whether something has changed; a follow-up that was sent is shown at once. */
  refresh: (asked?: string) => void;
}

/** The events of a run, and its answer as it is written. */
export const STREAM_MODES: ("custom" | "messages-tuple")[] = ["custom", "messages-tuple"];

/** Options of every run that this page starts: it continues when the page is closed. */
const RUN_OPTIONS = {
  streamMode: STREAM_MODES,
  streamSubgraphs: true,
  streamResumable: true,
  onDisconnect: "continue" as const,
  multitaskStrategy: "reject" as const,
};

/** What a run is started with. */
export interface Given {
  input: { request?: string; messages?: { role: string; content?: string | { type: string; text?: string }[] }[] } & Record<string, unknown>;
  context?: Record<string, unknown>;
}

/** Return the request that a run was started with. */
export function readAsked({ request, messages }: Given["input"]): string {
  const content = messages?.at(-1)?.content ?? "";
  const parts = typeof content === "string" ? [content] : content.map(({ text }) => text ?? "");
  return String(request ?? parts.join("\n")).trim();
}

/** Of a thread's metadata: its request, which a run that has not begun does not tell. */
export const ASKED = "supervise_asked";

/** Start a run on a thread, and return the run's id.
 *
 * @throws Problem: the server does not take it.
 */
export async function createRun({ client }: Server, thread: string, graph: string, given: Given | { command: { resume: unknown } }): Promise<string> {
  return (await ask(() => client.runs.create(thread, graph, { ...RUN_OPTIONS, ...given }))).run_id;
}

/** Start a run of a written request, on a new thread or as a follow-up; return the thread.
 *
 * @throws Problem: the server does not take it, or a file cannot be read.
 */
export async function startRun(server: Server, team: string, { request, files, materials, context }: WrittenRequest, thread = ""): Promise<string> {
  const blocks = await Promise.all(files.map(readBlock)).catch(() => {
    throw new Problem("refused", "a file cannot be read: was it moved or changed? Choose it again.");
  });
  const content = [{ type: "text", text: request }, ...blocks];
  const input = blocks.length ? { messages: [{ role: "user", content }] } : { request, ...(materials && { materials }) };
  return startOnThread(server, team, { input, context }, thread);
}

/** Start a run, on a new thread where none is named; return the thread.
 *
 * @throws Problem: the server does not take it.
 */
export async function startOnThread(server: Server, team: string, given: Given, thread = ""): Promise<string> {
  const place = thread || (await ask(() => server.client.threads.create({ metadata: { [ASKED]: toLine(readAsked(given.input), 300) } }))).thread_id;
  await createRun(server, place, team, given);
  return place;
}

/** Of a run's state, what the page reads of it. */
interface State extends Record<string, unknown> {
  plan: Plan;
  results: Record<string, object>;
  messages?: { type: string }[];
  materials?: Record<string, string>;
}

const SINGLE_AGENT = "single_agent";

/** Of a run's state, what none has that begins; its caps and its clock count anew. */
const BEGUN = { asked_s: 0, planned_s: 0, ui: [], todo: [], steps: {}, ledger: {}, notes: {}, doubts: {}, assigned: {}, results_before_rework: {}, answer: null, status: "running", stop_reason: "", objection: "", awaits_approval: false, revisions: 0, stalls: 0, critic_rounds: 0, completed_at_last_revision: 0, reports_at_last_dispatch: -1 };

/** Run a plan again from one of its tasks, with the other results as they are; return the new thread.
 *
 * @throws Problem: the server does not take it, such as a changed plan that does not fit the team.
 */
export async function runAgain(run: LiveRun, id: string, fields: Pick<PlannedTask, "description" | "worker">): Promise<string> {
  const { client } = run.server;
  const { values, metadata } = await ask(() => client.threads.getState<State>(run.thread));
  const { usage: _usage, timing: _timing, estimate: _estimate, plan, results, messages = [], ...others } = values;
  const redone = findDependants(plan, id);
  // What it did itself is its time.
  const taken = Object.entries(results).filter(([name]) => !redone.has(name));
  const kept = Object.fromEntries(taken.map(([name, report]) => [name, { ...report, started_s: 0, ended_s: 0 }]));
  const task = plan.tasks.find((each) => each.id === id)!;
  const isSame = task.description === fields.description && task.worker === fields.worker;
  // Another worker may read other files.
  const given = task.worker === fields.worker ? {} : { materials: Object.keys(values.materials ?? {}) };
  const tasks = plan.tasks.map((each) => (each === task && !isSame ? { ...each, ...fields, ...given, covers: [] } : each));
  // The new run's versions are the plan that it is from, and what was changed of it.
  const plans = [{ ...plan, version: 1 }, ...(isSame ? [] : [{ ...plan, tasks, version: 2 }])];
  const changed = task.description === fields.description ? "" : `: “${quoteTask(fields.description)}”`;
  const title = `${toLine(run.trace?.run.request, 100)} (again from ${id}${changed})`;
  const { thread_id: thread } = await ask(() => client.threads.create({ graphId: run.graph, metadata: { [TITLE]: title } }));
  // Who writes the new answer must not read the old one.
  const asked = messages.slice(0, messages.findLastIndex(({ type }) => type === "human") + 1);
  const state = { ...others, ...BEGUN, plan: plans.at(-1), plans, results: kept, answered_objections: Object.keys(kept), messages: asked };
  await ask(() => client.threads.updateState(thread, { values: state, asNode: "approval" }));
  const settings = JSON.parse(String((metadata as Record<string, unknown> | null)?.["run_settings"] ?? "{}")) as Record<string, unknown>;
  const strategy = tasks.some(({ worker }) => worker === SINGLE_AGENT) ? "single" : "plan"; // there is a plan
  await createRun(run.server, thread, run.graph, { ...CONTINUED, context: { ...settings, strategy } });
  return thread;
}

const CONTINUED: Given = { input: { continue_run: true } };

/** Continue a run that failed, was stopped or is partial; one that was stopped before it began starts with what it was given.
 *
 * @throws Problem: the server does not take it.
 */
export async function resumeRun(run: LiveRun, given = CONTINUED): Promise<void> {
  await createRun(run.server, run.thread, run.graph, given);
  run.refresh();
}

/** Stop all that is at work or waits in the thread, for its turn or for an answer; what is finished is kept.
 *
 * @throws Problem: the server does not do it.
 */
export async function stopRun(run: LiveRun): Promise<void> {
  const { client } = run.server;
  const runs = await ask(() => client.runs.list(run.thread, { limit: 10 }));
  const open = runs.filter(({ status }) => status === "pending" || status === "running");
  for (const each of open) await ask(() => client.runs.cancel(run.thread, each.run_id, false, "interrupt"));
  // One that waits for an answer is put back before the question; a resume asks again.
  if (!open.length) await ask(() => client.threads.updateState(run.thread, { values: {}, asNode: "supervisor" }));
  run.refresh();
}
