import { useState } from "preact/hooks";
import { useAction } from "../live/hooks";
import type { LiveRun } from "../live/live-run";
import { ProblemLine } from "../live/notice";
import { Line } from "../parts/text";
import { listOpenTasks, stopTask } from "./stop-task";

/** Stops one task of a run at work; the others continue. */
export function StopPanel({ run }: { run: LiveRun }) {
  const [path, setPath] = useState("");
  const [asked, setAsked] = useState<readonly string[]>([]);
  const stop = useAction(async () => {
    await stopTask(run, path);
    setAsked([...asked, path]);
    setPath("");
  });
  const open = run.status === "running" ? listOpenTasks(run.trace?.tasks ?? []) : [];
  const pending = asked.filter((each) => open.some((task) => task.path === each));
  if (!open.length) return null;
  return (
    <form class="stop-panel" onSubmit={(event) => (event.preventDefault(), path && stop.start())}>
      <label for="stop-task">Stop one task</label>
      <select id="stop-task" value={path} onChange={(event) => setPath(event.currentTarget.value)}>
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
  );
}
