import { useState } from "preact/hooks";
import { useAction } from "../client/hooks";
import { runAgain, type LiveRun } from "../client/live-run";
import { ProblemLine } from "../client/notice";
import { countOf } from "../model/format";
import type { TaskView } from "../model/task-view";
import { findDependants } from "../plan-editor/draft";
import { useTeamWorkers } from "../plan-editor/team-workers";
import { Line } from "../parts/text";
import { linkTo } from "./router";

/** Does a task again, changed or as it is, with all that builds on it: a run of its own, shown beside this one. */
export function RunAgain({ run, task }: { run: LiveRun; task: TaskView }) {
  const plan = run.trace?.plans.at(-1);
  const [isOpen, setOpen] = useState(false);
  const [description, setDescription] = useState(task.description);
  const [worker, setWorker] = useState(task.worker);
  const workers = useTeamWorkers(run.server, run.graph, isOpen);
  const action = useAction(async () => {
    location.hash = linkTo("compare", run.thread, await runAgain(run, task.path, { description: description.trim(), worker }));
  });
  if (run.status === "running" || run.status === "needs_input" || !plan?.tasks.some(({ id }) => id === task.path)) return null;
  const others = findDependants(plan, task.path).size - 1;
  return (
    <details class="run-again" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Change and run again</summary>
      <form onSubmit={(event) => (event.preventDefault(), action.start())}>
        <label>
          What to do
          <textarea rows={4} maxLength={4000} required value={description} onInput={(event) => setDescription(event.currentTarget.value)} />
        </label>
        <label>
          Worker
          <select value={worker} onChange={(event) => setWorker(event.currentTarget.value)}>
            {[...new Set([task.worker, ...workers])].map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <p class="soft small">
          <Line max={40}>{task.path}</Line> is done again{others > 0 && `, with ${countOf(others, "task")} that ${others === 1 ? "builds" : "build"} on it`}. Everything else is taken from this run, which stays as it is.
        </p>
        <button class="primary" type="submit" disabled={action.isBusy || !description.trim()}>
          {action.isBusy ? "Starting…" : "Run again"}
        </button>
        <ProblemLine problem={action.problem} />
      </form>
    </details>
  );
}
