import { useState } from "preact/hooks";
import { useAction } from "../client/hooks";
import type { LiveRun } from "../client/live-run";
import { ProblemLine } from "../client/notice";
import { Line } from "../parts/text";
import { ask } from "../client/server";
import { listPaths } from "../model/read-trace";

/** Stops one task of a run at work; the others continue. */
export function StopPanel({ run }: { run: LiveRun }) {
  const [path, setPath] = useState("");
  const [asked, setAsked] = useState<readonly string[]>([]);
  const stop = useAction(async () => {
    await stopTask(run, path);
    setAsked([...asked, path]);
    setPath("");
  });
  const tasks = run.trace?.tasks ?? [];
  // Before the first task has begun, the plan may still be approved or made again.
  const open = tasks.some(({ status }) => status !== "waiting") ? listPaths(tasks).filter(({ task }) => ["waiting", "working"].includes(task.status)) : [];
  const pending = asked.filter((each) => open.some((task) => task.path === each));
  return (
    <details class="stop-one">
      <summary>Stop one task</summary>
      <form class="stop-panel flow" onSubmit={(event) => (event.preventDefault(), path && stop.start())}>
        <select aria-label="Task to stop" value={path} disabled={!open.length} onChange={(event) => setPath(event.currentTarget.value)}>
          <option value="">choose…</option>
          {open.map(({ path: each, task }) => (
            <option key={each} value={each} disabled={pending.includes(each)}>
              {each} · {task.worker} · {task.status}
            </option>
          ))}
        </select>
        <button disabled={!path || stop.isBusy}>Stop it</button>
        <span class="soft small" role="status">
          {pending.length > 0 && (
            <>
              stopping <Line max={120}>{pending.join(", ")}</Line>…
            </>
          )}
        </span>
        <ProblemLine problem={stop.problem} />
      </form>
    </details>
  );
}

/** Return where a run looks for requests: a thread's id is written in hexadecimal, as it may hold a dot. */
function buildStopNamespace(thread: string): string[] {
  const bytes = new TextEncoder().encode(thread);
  return ["threads", [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join(""), "stop"];
}

/** Ask the run to stop a task; it does so within about a second.
 *
 * @throws Problem: the server does not take it.
 */
async function stopTask(run: LiveRun, path: string): Promise<void> {
  const place = buildStopNamespace(run.thread);
  await ask(() => run.server.client.store.putItem(place, path, { thread: run.thread }));
  run.refresh();
}
