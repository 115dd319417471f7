import { useState } from "preact/hooks";
import { useAction } from "../client/hooks";
import { runAgain, type LiveRun } from "../client/live-run";
import { ProblemLine } from "../client/notice";
import { countOf } from "../model/format";
import type { TaskView } from "../model/task-view";
import type { PlannedTask } from "../model/trace";
import { findDependants } from "../plan-editor/draft";
import { useTeamWorkers } from "../plan-editor/team-workers";
import { Line } from "../parts/text";
import { linkTo } from "./router";

/** Return the part of the request that a task's words quote, which a reader may word differently; empty where they quote none. */
function findQuoted({ description, covers = [] }: PlannedTask): string {
  const quoted = covers.length === 1 ? covers[0]!.replaceAll('"', "'").replace(/[. ]+$/, "") : "";
  return description.includes(`"${quoted}"`) ? quoted : "";
}

/** Does a task again, changed or as it is, with all that builds on it: a run of its own, shown beside this one. */
export function RunAgain({ run, task }: { run: LiveRun; task: TaskView }) {
  const plan = run.trace?.plans.at(-1);
  const [isOpen, setOpen] = useState(false);
  const planned = plan?.tasks.find(({ id }) => id === task.path);
  const quoted = planned ? findQuoted(planned) : "";
  const [words, setWords] = useState(quoted || task.description);
  const [worker, setWorker] = useState(task.worker);
  const workers = useTeamWorkers(run.server, run.graph, isOpen);
  const description = quoted ? task.description.replace(quoted, () => words.trim().replaceAll('"', "'")) : words.trim();
  const action = useAction(async () => {
    location.hash = linkTo("compare", run.thread, await runAgain(run, task.path, { description, worker }));
  });
  if (run.status === "running" || run.status === "needs_input" || !plan || !planned) return null;
  const others = findDependants(plan, task.path).size - 1;
  return (
    <details class="run-again" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Change and run again</summary>
      <form onSubmit={(event) => (event.preventDefault(), action.start())}>
        <label>
          What to do
          <textarea rows={4} maxLength={4000} required value={words} onInput={(event) => setWords(event.currentTarget.value)} />
        </label>
        <label>
          Worker{" "}
          <select value={worker} onChange={(event) => setWorker(event.currentTarget.value)}>
            {[...new Set([task.worker, ...workers])].map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <p class="soft small">
          <Line max={40}>{task.path}</Line> is done again{others > 0 && `, with ${countOf(others, "task")} that ${others === 1 ? "builds" : "build"} on it`}. Everything else is taken from this run, which stays as it is.
        </p>
        <button class="primary" type="submit" disabled={action.isBusy || !words.trim()}>
          {action.isBusy ? "Starting…" : "Run again"}
        </button>
        <ProblemLine problem={action.problem} />
      </form>
    </details>
  );
}
