/** Watches one thread: its kept trace, and the events of a run at work as they are streamed. */

import { buildTrace, findClockStart, normalize, type Entry } from "../model/build-trace";
import { readTrace } from "../model/read-trace";
import { chooseStatus, type RunView } from "../model/run-status";
import type { RunStatus, Trace, TraceEvent } from "../model/trace";
import { dropKept, findOffset, isRequest, shiftEvents } from "../model/live-events";
import { loadKeptTrace } from "./kept-trace";
import { readProblem, type Problem, type ProblemKind } from "./problem";
import { STREAM_MODES, type Given } from "./live-run";
import { ask, isServerFull, loadThread, readTitle, type Server } from "./server";

/** `following`: events are streamed; `lost`: the server is tried again. */
export type Connection = "loading" | "following" | "lost" | "settled";

export interface WatchedRun {
  thread: string;
  /** Name of the graph, with which a further run is started. */
  graph: string;
  status: RunStatus;
  /** It has not begun, and the server works on as many others as it can. */
  isQueued: boolean;
  /** What a run that has not begun was started with, as far as the server says it. */
  given: Given | null;
  trace: Trace | null;
  questions: unknown[];
  connection: Connection;
  problem: Problem | null;
  /** Lines of the trace that cannot be read. */
  unreadable: number;
}

const IDLE_POLL_MS = 3000;
/** Until the events before the join are kept, too. */
const CATCH_UP_MS = 1200;
const QUIET_MS = 15_000;
const HIDDEN_FRAME_MS = 1000;
/** Between two drawings: of the time that one takes, so that drawing leaves the machine to the run. */
const FRAME_PACE = 30;
const MIN_FRAME_MS = 250;
const MAX_FRAME_MS = 3000;
const CLOCK_MS = 1000;
const STREAMED_POLL_MS = 15_000;
/** Of the time that a read took, until the next one: the server's work for this page is bounded. */
const PACE = 50;
/** Messages for other clients, which are no events. */
const UI = "ui";
/** Until a follow-up that is not at work is no longer expected to begin. */
const AWAITED_MS = 5000;
const RETRY_MS = [500, 1000, 2000, 4000, 8000];
const WORKING = ["pending", "running"];
const FINAL: readonly ProblemKind[] = ["forbidden", "unknown"];

export class RunWatch {
  private readonly ended = new AbortController();
  private kept: Entry[] = [];
  private lineCount = 0;
  /** As they were streamed, on the clock of their run. */
  private live: Entry[] = [];
  private offset = 0;
  private view: RunView = {};
  private threadStatus = "";
  private title = "";
  private seen = "";
  /** Something may have changed since the server was last asked. */
  private isStale = false;
  private wake: () => void = () => undefined;
  private shown: WatchedRun;
  private isPlanned = false;
  private hasTasksStreamed = false;
  private hasBeginningStreamed = false;
  private heard = { t: -1, at: 0 };
  private lastBuildMs = 0;
  /** A follow-up that was sent, until the trace has it: what it asks, the requests before it, and since when it is awaited. */
  private awaited: { given: Given; turns: number; since: number } | null = null;
  /** The answer as far as it was streamed, and the id of its message. */
  private written = { id: "", text: "" };

  constructor(
    private readonly server: Server,
    thread: string,
    private readonly onChange: (run: WatchedRun) => void,
  ) {
    const nothing = { trace: null, questions: [], problem: null, unreadable: 0, graph: "", isQueued: false, given: null };
    this.shown = { thread, status: "running", connection: "loading", ...nothing };
  }

  /** Watch until `stop`, or until nothing can be expected of the thread. */
  async start(): Promise<void> {
    for (let failures = 0; !this.ended.signal.aborted; ) {
      try {
        await this.watchOnce();
        failures = 0;
      } catch (error) {
        if (this.ended.signal.aborted) return;
        if (this.isStale) continue; // the failure is of before, perhaps with another token
        const problem = readProblem(error);
        const isLost = problem.kind === "unreachable";
        this.show({ problem, connection: isLost ? "lost" : "settled" });
        if (FINAL.includes(problem.kind) && !this.shown.trace) return;
        if (isLost) this.seen = "";
        await this.pause(isLost ? RETRY_MS[Math.min(failures, RETRY_MS.length - 1)]! : IDLE_POLL_MS);
        failures += 1;
      }
    }
  }

  stop(): void {
    this.ended.abort();
    this.wake();
  }

  /** Look at once whether something has changed; a follow-up is shown as one that begins. */
  refresh(asked = ""): void {
    if (asked) {
      this.awaited = { given: { input: { request: asked } }, turns: this.countTurns(), since: performance.now() };
      this.draw();
    }
    this.isStale = true;
    this.wake();
  }

  private countTurns(): number {
    return this.kept.filter(isRequest).length + Number(this.live.some(isRequest));
  }

  private async watchOnce(): Promise<void> {
    const isStale = this.isStale;
    this.isStale = false;
    const thread = await loadThread(this.server, this.shown.thread);
    const seen = `${thread.status} ${thread.updated_at}`;
    this.title = readTitle(thread);
    const isWorking = thread.status === "busy";
    const connection = isWorking ? "following" : "settled";
    if (isStale || seen !== this.seen) {
      this.seen = seen; // what cannot be read is not read again until the thread changes
      const graph = String((thread.metadata as Record<string, unknown> | null)?.["graph_id"] ?? "");
      await this.load(0, thread.status).catch((error: unknown) => {
        this.threadStatus = thread.status;
        this.allowQueued(error);
      });
      this.show({ graph: graph || this.shown.graph, problem: null, connection });
    } else if (this.shown.problem?.kind !== "refused") this.show({ problem: null, connection });
    if (isWorking) return this.follow(seen);
    if (!this.kept.length && !this.shown.given) await this.findWorkingRun().catch(() => undefined);
    await this.pause(IDLE_POLL_MS);
  }

  /** Ignore that a run has nothing to show while it waits in the queue. */
  private allowQueued(error: unknown): void {
    const problem = readProblem(error);
    if (this.threadStatus !== "busy" || problem.kind !== "refused") throw problem;
  }

  /** Read the kept trace from a line on; the streamed events that it holds are dropped, and a new status counts from then on. */
  private async load(from: number, threadStatus = this.threadStatus): Promise<void> {
    const kept = await loadKeptTrace(this.server, this.shown.thread, from);
    if (from && from !== this.lineCount) return; // another read was faster
    this.kept = from ? [...this.kept, ...kept.entries] : kept.entries;
    this.lineCount = kept.lineCount;
    this.view = kept.run;
    this.threadStatus = threadStatus;
    this.offset = findOffset(this.kept, this.live);
    this.live = this.threadStatus === "busy" ? dropKept(this.kept, this.live, this.offset) : [];
    this.show({ unreadable: (from ? this.shown.unreadable : 0) + kept.unreadable });
  }

  private async follow(seen: string): Promise<void> {
    const run = await this.findWorkingRun();
    if (!run) return this.pause(RETRY_MS[0]!);
    const joined = new AbortController();
    let isQuiet = false;
    const end = () => joined.abort();
    this.ended.signal.addEventListener("abort", end);
    let quiet = setTimeout(end, QUIET_MS);
    this.seen = "";
    this.hasTasksStreamed = this.hasBeginningStreamed = false;
    this.written = { id: "", text: "" };
    void this.catchUp(run, joined.signal);
    const clock = setInterval(() => this.show({}), CLOCK_MS);
    try {
      const options = { streamMode: STREAM_MODES, signal: joined.signal, cancelOnDisconnect: false };
      for await (const part of this.server.client.runs.joinStream(this.shown.thread, run, options)) {
        clearTimeout(quiet);
        quiet = setTimeout(end, QUIET_MS);
        if (String(part.event).startsWith("custom")) this.add(part.data);
        if (part.event === "messages") this.write(part.data);
      }
      isQuiet = joined.signal.aborted;
    } catch (error) {
      if (!joined.signal.aborted) throw readProblem(error);
      isQuiet = true;
    } finally {
      clearTimeout(quiet);
      clearInterval(clock);
      joined.abort();
      this.ended.signal.removeEventListener("abort", end);
    }
    if (!isQuiet || this.ended.signal.aborted) return;
    // Nothing was heard for a while: the thread is asked, and the run is joined again.
    await this.load(this.lineCount).catch((error: unknown) => this.allowQueued(error));
    this.seen = seen;
  }

  /** Read what was kept before the join; and again and again where the run's own stream has no events of tasks. */
  private async catchUp(run: string, signal: AbortSignal): Promise<void> {
    for (let wait = CATCH_UP_MS; ; ) {
      await sleep(wait, signal);
      if (signal.aborted || this.ended.signal.aborted) return;
      if (this.hasTasksStreamed && this.hasBeginningStreamed) return;
      if (!this.shown.trace) await this.checkQueue(run).catch(() => undefined);
      const began = performance.now();
      await this.load(this.lineCount).catch(() => undefined);
      const paced = Math.max(CATCH_UP_MS, PACE * (performance.now() - began));
      wait = this.hasTasksStreamed ? Math.max(paced, STREAMED_POLL_MS) : paced;
    }
  }

  /** Note whether the run waits for others. */
  private async checkQueue(run: string): Promise<void> {
    const { status } = await this.server.client.runs.get(this.shown.thread, run);
    this.show({ isQueued: status === "pending" && (await isServerFull(this.server)) });
  }

  private async findWorkingRun(): Promise<string | undefined> {
    const runs = await ask(() => this.server.client.runs.list(this.shown.thread, { limit: 10 }));
    const working = runs.filter((run) => WORKING.includes(run.status));
    const first = working.sort((one, other) => one.created_at.localeCompare(other.created_at))[0];
    this.show({ given: readGiven(first ?? runs[0]) });
    return first?.run_id;
  }

  private add(streamed: unknown): void {
    const entry = typeof streamed === "object" && streamed !== null ? normalize(streamed as Entry) : null;
    if (!entry || typeof entry["t"] !== "number" || entry["kind"] === UI) return;
    if (entry["task"]) this.hasTasksStreamed = true;
    this.live.push(entry);
    if (isRequest(entry)) {
      this.hasBeginningStreamed = true;
      this.offset = findOffset(this.kept, this.live);
    }
    this.show({});
  }

  /** Add a part of the answer's message; the messages of workers have other events. */
  private write(streamed: unknown): void {
    const [part] = (Array.isArray(streamed) ? streamed : []) as [{ type?: unknown; id?: unknown; content?: unknown }?];
    if (part?.type !== "AIMessageChunk" || typeof part.content !== "string") return;
    const id = String(part.id);
    const before = this.written.id === id ? this.written.text : "";
    // A part that begins with a blank follows others, which were sent before the page joined.
    this.written = { id, text: before || !/^\s/.test(part.content) ? before + part.content : `…${part.content}` };
    this.show({});
  }

  /** Show changes with the next frame; a large trace is drawn less often. */
  private show(change: Partial<WatchedRun>): void {
    this.shown = { ...this.shown, ...change };
    if (this.isPlanned) return;
    this.isPlanned = true;
    const wait = Math.min(MAX_FRAME_MS, Math.max(MIN_FRAME_MS, FRAME_PACE * this.lastBuildMs));
    setTimeout(() => onFrame(() => this.draw()), wait);
  }

  private draw(): void {
    this.isPlanned = false;
    if (this.ended.signal.aborted) return;
    const began = performance.now();
    const status = chooseStatus(this.view, this.threadStatus);
    const isLate = this.threadStatus !== "busy" && performance.now() - (this.awaited?.since ?? 0) > AWAITED_MS;
    if (this.awaited && (isLate || this.countTurns() > this.awaited.turns)) this.awaited = null;
    const begun = { status, questions: this.view.questions ?? [], trace: this.buildTrace(status) };
    const shown = this.awaited ? { status: "running" as const, questions: [], trace: null, given: this.awaited.given } : begun;
    this.shown = { ...this.shown, ...shown };
    this.onChange(this.shown);
    // After the components were rendered, too.
    setTimeout(() => {
      this.lastBuildMs = performance.now() - began;
    });
  }

  private buildTrace(status: RunStatus): Trace | null {
    const entries = [...this.kept, ...shiftEvents(dropKept(this.kept, this.live, this.offset), this.offset)];
    if (!entries.length && !this.view.request) return null;
    const trace = buildTrace(entries);
    const run = { request: this.view.request ?? "", ...trace.run, thread: this.shown.thread, title: this.title, status, clock_started: findClockStart(this.kept) };
    if (status !== "running" || !["following", "lost"].includes(this.shown.connection)) return readTrace({ ...trace, run });
    const nowS = this.readClock(trace.events);
    const wallS = nowS - (trace.events.findLast((event) => event.kind === "request" && !event.within)?.t ?? 0);
    return readTrace({ ...trace, run: { ...run, now_s: nowS, written: this.written.text }, timing: { ...trace.timing, wall_s: wallS } });
  }

  /** Return the time on the run's clock: that of its last event, and what has passed here since it came. */
  private readClock(events: readonly TraceEvent[]): number {
    const lastT = events.at(-1)?.t ?? 0;
    if (lastT !== this.heard.t) this.heard = { t: lastT, at: performance.now() };
    return lastT + (performance.now() - this.heard.at) / 1000;
  }

  private pause(ms: number): Promise<void> {
    if (this.isStale) return Promise.resolve();
    const woken = new AbortController();
    this.wake = () => woken.abort();
    return sleep(ms, woken.signal);
  }
}

/** Return what a run was started with, in the forms of both servers; null where it is not known. */
function readGiven(run: unknown): Given | null {
  const { kwargs, ...others } = (run ?? {}) as Partial<Given> & { kwargs?: Partial<Given> };
  const { input, context } = kwargs ?? others;
  return input ? { input, context: context ?? {} } : null;
}

/** Call with the next frame; a tab that is hidden has none. */
function onFrame(draw: () => void): void {
  let isDone = false;
  const once = () => {
    if (!isDone) draw();
    isDone = true;
  };
  requestAnimationFrame(once);
  setTimeout(once, HIDDEN_FRAME_MS);
}

const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
