/** The runs of a server, the newest first. */

import { chooseStatus } from "../model/run-status";
import type { RunStatus } from "../model/trace";
import { loadSummary } from "./kept-trace";
import { readProblem } from "./problem";
import { ask, type Server } from "./server";

export const MAX_RUNS = 100;
const MAX_ASKED_AT_ONCE = 6;
const SHOWN = ["thread_id", "status", "metadata", "created_at", "updated_at"] as const;

export interface ListedRun {
  thread: string;
  team: string;
  request: string;
  status: RunStatus;
  /** ISO 8601. */
  started: string;
  wallS: number | null;
}

export interface RunList {
  runs: ListedRun[];
  /** Threads that hold no run of a team. */
  foreign: number;
  isCut: boolean;
}

interface Thread {
  thread_id: string;
  status: string;
  created_at: string;
  updated_at: string;
}

type Summary = ListedRun | null;

/** Lists runs again and again; of a thread that has not changed nothing is asked. */
export class RunLister {
  private known = new Map<string, Summary>();
  /** Whether the server sends single fields of threads; else it sends them whole. */
  private takesSelect = true;

  constructor(private readonly server: Server) {}

  /** Return the newest runs.
   *
   * @throws Problem: the server cannot be asked.
   */
  async list(): Promise<RunList> {
    const threads = await ask(() => this.search());
    const found = new Map<string, Summary>();
    const waiting = threads.slice(0, MAX_RUNS).map((thread) => [nameVersion(thread), thread] as const);
    const work = waiting.values();
    const readers = Array.from({ length: MAX_ASKED_AT_ONCE }, async () => {
      for (const [version, thread] of work) {
        const known = this.known.get(version);
        found.set(version, known !== undefined ? known : await this.summarize(thread));
      }
    });
    await Promise.all(readers);
    this.known = found;
    const runs = waiting.flatMap(([version]) => found.get(version) ?? []);
    return { runs, foreign: waiting.length - runs.length, isCut: threads.length >= MAX_RUNS };
  }

  private async search(): Promise<Thread[]> {
    const options = { limit: MAX_RUNS, sortBy: "updated_at" as const, sortOrder: "desc" as const };
    const { threads } = this.server.client;
    if (!this.takesSelect) return threads.search(options);
    try {
      return await threads.search({ ...options, select: [...SHOWN] });
    } catch (error) {
      if ((error as { status?: number }).status !== 422) throw error;
      this.takesSelect = false; // so does Aegra
      return threads.search(options);
    }
  }

  private async summarize(thread: Thread): Promise<Summary> {
    let view;
    try {
      view = await loadSummary(this.server, thread.thread_id);
    } catch (error) {
      const problem = readProblem(error);
      if (problem.kind === "unreachable" || problem.kind === "unauthorized") throw problem;
      return null;
    }
    const run = view.run ?? {};
    const status = chooseStatus(run, thread.status);
    if (!run.request && status !== "running") return null;
    return {
      thread: thread.thread_id,
      team: String(view.team ?? ""),
      request: String(run.request ?? ""),
      status,
      started: String(run.started || thread.created_at),
      wallS: typeof run.wall_s === "number" ? run.wall_s : null,
    };
  }
}

const nameVersion = (thread: Thread) => `${thread.thread_id} ${thread.status} ${thread.updated_at}`;
