/** Reads what a server keeps of a thread, through the thread's state: docs/guide/server.md. */

import type { Checkpoint } from "@langchain/langgraph-sdk";
import { readLine, type Entry } from "../model/build-trace";
import { readCauses, readDocuments } from "../model/read-trace";
import type { Cause, RunDocument } from "../model/trace";
import type { RunView } from "../model/run-status";
import { Problem, readProblem } from "./problem";
import type { Server } from "./server";

const TRACE = "supervise-trace";
const SUMMARY = "supervise-summary";
const WHY = "supervise-why";
const DOCUMENTS = "supervise-documents";
const MAX_TRACE_CHARS = 50_000_000;

interface View {
  team?: string;
  run?: RunView;
  lines?: unknown[];
  next?: number | null;
  why?: unknown;
  documents?: unknown;
}

export interface KeptTrace {
  entries: Entry[];
  /** Lines that were read, those that cannot be used too. */
  lineCount: number;
  unreadable: number;
  run: RunView;
  team: string;
}

/** Return a thread's summary: `run`, and the team's name.
 *
 * @throws Problem: kind `refused` for a thread of another graph.
 */
export const loadSummary = (server: Server, thread: string): Promise<View> => loadView(server, thread, SUMMARY, 0);

/** Return why a run is not whole; nothing from a server that does not say it. */
export const loadWhy = (server: Server, thread: string): Promise<Cause[]> => loadView(server, thread, WHY, 0).then(({ why }) => readCauses(why), () => []);

/** Return the documents that a run has written; none from a server that does not keep them. */
export const loadDocuments = (server: Server, thread: string): Promise<RunDocument[]> => loadView(server, thread, DOCUMENTS, 0).then(({ documents }) => readDocuments(documents), () => []);

/** Return the trace from a line on.
 *
 * @throws Problem: it cannot be loaded, or is too large.
 */
export async function loadKeptTrace(server: Server, thread: string, from = 0): Promise<KeptTrace> {
  const kept: KeptTrace = { entries: [], lineCount: from, unreadable: 0, run: {}, team: "" };
  let size = 0;
  for (;;) {
    const view = await loadView(server, thread, TRACE, kept.lineCount);
    const lines = view.lines ?? [];
    kept.run = view.run ?? {};
    kept.team = String(view.team ?? "");
    for (const line of lines) {
      size += typeof line === "string" ? line.length : 0;
      const entry = readLine(line);
      if (entry) kept.entries.push(entry);
      else kept.unreadable += 1;
    }
    if (size > MAX_TRACE_CHARS) throw new Problem("unreadable", "the run's trace is larger than 50 MB");
    kept.lineCount += lines.length;
    if (!lines.length || view.next !== kept.lineCount) return kept;
  }
}

async function loadView(server: Server, thread: string, namespace: string, line: number): Promise<View> {
  // The SDK's type wants `checkpoint_map`, and the server refuses null.
  const checkpoint = { thread_id: thread, checkpoint_ns: namespace, checkpoint_id: toUuid(line) } as Checkpoint;
  let values: View;
  try {
    values = (await server.client.threads.getState<View>(thread, checkpoint)).values;
  } catch (error) {
    const problem = readProblem(error);
    throw problem.kind === "refused" || problem.kind === "unknown" ? foreign() : problem;
  }
  if (typeof values?.run !== "object" || values.run === null) throw foreign();
  return values;
}

const foreign = () => new Problem("refused", "this thread holds no run of a team of this version");

/** Return a line's number as the id under which the server takes it. */
export function toUuid(line: number): string {
  const digits = line.toString(16).padStart(32, "0");
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
