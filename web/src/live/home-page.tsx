import { useMemo, useState } from "preact/hooks";
import { formatSeconds } from "../model/format";
import { Section } from "../parts/shell";
import { Line } from "../parts/text";
import { useAsked } from "./hooks";
import { ProblemLine } from "./notice";
import type { Problem } from "./problem";
import { linkTo } from "./router";
import { RunLister, type ListedRun, type RunList } from "./run-list";
import type { Server } from "./server";
import { StartForm } from "./start-form";
import { StatusMark } from "./status-mark";

const LIST_EVERY_MS = 5000;

interface PageProps {
  server: Server;
  onProblem: (problem: Problem) => void;
}

/** Where a run is started, and earlier ones are found. */
export function HomePage({ server, onProblem }: PageProps) {
  const lister = useMemo(() => new RunLister(server), [server]);
  const list = useAsked(() => lister.list(), [lister], LIST_EVERY_MS);
  if (list.problem?.kind === "unauthorized" && !list.answer) queueMicrotask(() => onProblem(list.problem!));
  return (
    <>
      <Section id="start" title="Start a run">
        <StartForm server={server} />
      </Section>
      <Section id="runs" title="Runs">
        <ProblemLine problem={list.problem} />
        {list.answer ? <Runs list={list.answer} /> : !list.problem && <p class="soft">loading…</p>}
      </Section>
    </>
  );
}

function Runs({ list }: { list: RunList }) {
  const [chosen, setChosen] = useState<string[]>([]);
  const choose = (thread: string) =>
    setChosen((before) => (before.includes(thread) ? before.filter((each) => each !== thread) : [...before, thread].slice(-2)));
  if (!list.runs.length) return <p class="soft">No run yet.</p>;
  const [first, second] = chosen;
  return (
    <>
      <p>
        {first && second ? (
          <a class="button" href={linkTo("compare", first, second)}>
            Compare the two
          </a>
        ) : (
          <span class="soft small">Select two runs to compare them.</span>
        )}
      </p>
      <div class="table-scroll" tabIndex={0} role="region" aria-label="Runs, newest first">
        <table class="run-list">
          <thead>
            <tr>
              <th scope="col">
                <span class="visually-hidden">Compare</span>
              </th>
              <th scope="col">Status</th>
              <th scope="col">Request</th>
              <th scope="col">Team</th>
              <th scope="col">Started</th>
              <th scope="col">Time</th>
            </tr>
          </thead>
          <tbody>
            {list.runs.map((run) => (
              <RunRow key={run.thread} run={run} isChosen={chosen.includes(run.thread)} onChoose={() => choose(run.thread)} />
            ))}
          </tbody>
        </table>
      </div>
      {list.isCut && <p class="soft small">Only the newest are listed.</p>}
    </>
  );
}

const RunRow = ({ run, isChosen, onChoose }: { run: ListedRun; isChosen: boolean; onChoose: () => void }) => (
  <tr>
    <td>
      <input type="checkbox" checked={isChosen} onChange={onChoose} aria-label={`compare the run of ${formatStart(run.started)}`} />
    </td>
    <td>
      <StatusMark status={run.status} />
    </td>
    <td class="request-cell">
      <a href={linkTo("runs", run.thread)}>
        <Line max={160}>{run.request || "in the queue"}</Line>
      </a>
    </td>
    <td>
      <Line max={60}>{run.team}</Line>
    </td>
    <td class="figure">{formatStart(run.started)}</td>
    <td class="figure">{formatSeconds(run.wallS)}</td>
  </tr>
);

/** Return a time of day of today, or a date with it. */
export function formatStart(started: string | undefined): string {
  const date = new Date(started ?? "");
  if (Number.isNaN(date.getTime())) return "–";
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday ? date.toLocaleTimeString("en-GB") : date.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
}
