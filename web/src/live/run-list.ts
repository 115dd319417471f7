/** The runs of a server, the last started first. */

import { chooseStatus } from "../model/run-status";
import type { RunStatus } from "../model/trace";
import { loadSummary } from "../client/kept-trace";
import { ASKED } from "../client/live-run";
import { readProblem } from "../client/problem";
import { ask, readTitle, type Server } from "../client/server";

export const PAGE = 100;
const MAX_ASKED_AT_ONCE = 6;
const SHOWN = ["thread_id", "status", "metadata", "created_at", "updated_at"] as const;

export interface ListedRun {
  thread: string;
  team: string;
  request: string;
  /** All of its thread, to search in. */
  requests: readonly string[];
  /** That a user gave it, or the first request of a thread with more; else empty. */
  title: string;
  isQueued: boolean;
  status: RunStatus;
  /** ISO 8601. */
  started: string;
  wallS: number | null;
}

export interface RunList {
  /** Of the pages that were loaded, the last started first. */
  runs: ListedRun[];
  pages: number;
  hasOlder: boolean;
}

interface Thread {
  thread_id: string;
  metadata?: Record<string, unknown> | null;
  status: string;
  created_at: string;
  updated_at: string;
}

interface Known {
  thread: Thread;
  /** Null for a thread that holds no run of a team. */
  run: ListedRun | null;
}

/** Lists runs again and again: the newest page each time, older ones once; of a thread that has not changed nothing is asked. */
export class RunLister {
  private known = new Map<string, Known>();
  private pages = 0;
  private hasOlder = false;
  /** Whether the server sends single fields of threads; else it sends them whole. */
  private takesSelect = true;

  constructor(private readonly server: Server) {}

  /** Return the newest runs, of so many pages.
   *
   * @throws Problem: the server cannot be asked.
   */
  async list(pages = 1): Promise<RunList> {
    const newest = await this.loadPage(0);
    this.forgetDeleted(newest);
    for (; this.pages < pages; this.pages += 1) {
      const page = this.pages ? await this.loadPage(this.pages * PAGE) : newest;
      this.hasOlder = page.length >= PAGE;
    }
    const runs = [...this.known.values()].flatMap(({ run }) => run ?? []).sort((one, other) => Date.parse(other.started) - Date.parse(one.started));
    return { runs, pages: this.pages, hasOlder: this.hasOlder };
  }

  /** Drop the threads that the newest page would hold if they were still there. */
  private forgetDeleted(newest: readonly Thread[]): void {
    const there = new Set(newest.map(({ thread_id }) => thread_id));
    const last = newest.length >= PAGE ? newest.at(-1)!.updated_at : "";
    for (const [id, { thread }] of this.known) if (!there.has(id) && thread.updated_at > last) this.known.delete(id);
  }

  private async loadPage(offset: number): Promise<Thread[]> {
    const threads = await ask(() => this.search(offset));
    const work = threads.values();
    const readers = Array.from({ length: MAX_ASKED_AT_ONCE }, async () => {
      for (const thread of work) {
        const known = this.known.get(thread.thread_id);
        const run = known && nameVersion(known.thread) === nameVersion(thread) ? known.run : await this.summarize(thread);
        this.known.set(thread.thread_id, { thread, run });
      }
    });
    await Promise.all(readers);
    return threads;
  }

  private async search(offset: number): Promise<Thread[]> {
    const options = { limit: PAGE, offset, sortBy: "updated_at" as const, sortOrder: "desc" as const };
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

  private async summarize(thread: Thread): Promise<ListedRun | null> {
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
    const asked = run.request || String(thread.metadata?.[ASKED] ?? "");
    if (!asked && status !== "running") return null;
    const { requests = [] } = run;
    const [first = asked] = requests;
    return {
      thread: thread.thread_id,
      team: String(view.team ?? ""),
      request: asked,
      requests,
      title: readTitle(thread) || (first === asked ? "" : first),
      isQueued: status === "running" && !run.request,
      status,
      started: String(run.started || thread.created_at),
      wallS: typeof run.wall_s === "number" ? run.wall_s : null,
    };
  }
}

const nameVersion = (thread: Thread) => `${thread.thread_id} ${thread.status} ${thread.updated_at}`;
