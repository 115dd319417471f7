/** What parts of the live page know of the run that is shown, and what they can do with it. */

import type { ComponentType } from "preact";
import type { RunWatch, WatchedRun } from "./run-watch";
import { ask, type Server } from "./server";

export interface LiveRun extends WatchedRun {
  server: Server;
  /** Send what resumes the run: a reply to its question, or several by the ids of the interrupts.
   *
   * @throws Problem: the server does not take it.
   */
  answer: (resume: unknown) => Promise<void>;
  /** Look at once whether something has changed. */
  refresh: () => void;
}

/** A part that is shown above the run; it renders nothing where it has nothing to show. */
export type RunPanel = ComponentType<{ run: LiveRun }>;

/** Options of every run that this page starts: it continues when the page is closed. */
export const RUN_OPTIONS = {
  streamMode: ["custom" as const],
  streamSubgraphs: true,
  streamResumable: true,
  onDisconnect: "continue" as const,
  multitaskStrategy: "reject" as const,
};

export const buildLiveRun = (run: WatchedRun, server: Server, watch: RunWatch): LiveRun => ({
  ...run,
  server,
  refresh: () => watch.refresh(),
  answer: async (resume) => {
    await ask(() => server.client.runs.create(run.thread, run.graph, { ...RUN_OPTIONS, command: { resume } }));
    watch.refresh();
  },
});

/** Continue a run that failed, was stopped or is partial.
 *
 * @throws Problem: the server does not take it.
 */
export async function resumeRun(run: LiveRun): Promise<void> {
  const input = { continue_run: true };
  await ask(() => run.server.client.runs.create(run.thread, run.graph, { ...RUN_OPTIONS, input }));
  run.refresh();
}

/** Stop all that is at work or waits in the thread; what is finished is kept.
 *
 * @throws Problem: the server does not do it.
 */
export async function stopRun(run: LiveRun): Promise<void> {
  const { client } = run.server;
  const runs = await ask(() => client.runs.list(run.thread, { limit: 10 }));
  for (const each of runs.filter(({ status }) => status === "pending" || status === "running")) {
    await ask(() => client.runs.cancel(run.thread, each.run_id, false, "interrupt"));
  }
  run.refresh();
}
