/** Stops a task of a run at work: docs/guide/recovery.md. */

import type { LiveRun } from "../client/live-run";
import { ask } from "../client/server";
import type { TracedTask } from "../model/trace";

/** Return the paths of the tasks that have not ended, `outer/inner` for those of a team. */
export const listOpenTasks = (tasks: readonly TracedTask[], within = ""): { path: string; task: TracedTask }[] =>
  tasks.flatMap((task) => {
    const path = `${within}${task.id}`;
    const isOpen = task.status === "waiting" || task.status === "working";
    return [...(isOpen ? [{ path, task }] : []), ...listOpenTasks(task.team?.tasks ?? [], `${path}/`)];
  });

/** Return where a run looks for requests: a thread's id is written in hexadecimal, as it may hold a dot. */
export function buildStopNamespace(thread: string): string[] {
  const bytes = new TextEncoder().encode(thread);
  return ["threads", [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join(""), "stop"];
}

/** Ask the run to stop a task; it does so within about a second.
 *
 * @throws Problem: the server does not take it.
 */
export async function stopTask(run: LiveRun, path: string): Promise<void> {
  const place = buildStopNamespace(run.thread);
  await ask(() => run.server.client.store.putItem(place, path, { thread: run.thread }));
  run.refresh();
}
