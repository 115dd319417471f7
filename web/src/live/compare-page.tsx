import { useEffect, useMemo, useState } from "preact/hooks";
import { DataTable } from "../parts/data-table";
import { PlanGraph } from "../parts/plan-graph";
import { RunContext, showRun } from "../parts/run-context";
import { SelectionProvider } from "../parts/selection";
import { TimelineSection } from "../parts/timeline-section";
import { Section } from "../parts/shell";
import { MarkdownLine, MarkdownText } from "../parts/markdown-text";
import { Line } from "../parts/text";
import { compareRuns, compareTasks, type TaskPair } from "../model/compare";
import { formatMoment, nameTeam } from "../model/format";
import { listGaps } from "../model/gaps";
import { toLine } from "../model/plain-text";
import { labelState } from "../model/task-view";
import type { Trace } from "../model/trace";
import { useAsked } from "../client/hooks";
import { loadKeptTrace } from "../client/kept-trace";
import { listTurns } from "./earlier-turns";
import { FigureTable, NAMES } from "./figure-table";
import { Missing } from "../client/notice";
import { Problem } from "../client/problem";
import { linkTo } from "./router";
import { loadThread, readTitle, type Server } from "../client/server";
import { StatusMark } from "./status-mark";
import { buildTrace } from "../model/build-trace";
import { readTrace } from "../model/read-trace";
import { chooseStatus } from "../model/run-status";

interface ComparePageProps {
  server: Server;
  threads: readonly [string, string];
}

const POLL_MS = 2000;
/** A follow-up may begin while both are shown. */
const IDLE_POLL_MS = 15_000;

async function loadTrace(server: Server, thread: string): Promise<Trace> {
  const known = await loadThread(server, thread);
  const kept = await loadKeptTrace(server, thread);
  const trace = buildTrace(kept.entries);
  const status = chooseStatus(kept.run, known.status);
  const read = readTrace({ ...trace, run: { request: kept.run.request ?? "", ...trace.run, thread, title: readTitle(known), status } });
  if (!read) throw new Problem("unreadable", "the run's trace cannot be read");
  return read;
}

/** Two runs side by side: figures, plans, answers. */
export function ComparePage({ server, threads }: ComparePageProps) {
  const load = () => Promise.all([loadTrace(server, threads[0]), loadTrace(server, threads[1])]);
  const [isAtWork, setAtWork] = useState(false);
  const { answer, problem } = useAsked(load, [server, ...threads, isAtWork], isAtWork ? POLL_MS : IDLE_POLL_MS);
  useEffect(() => setAtWork(answer?.some(({ run }) => run.status === "running") ?? false), [answer]);
  if (!answer) return <Missing problem={problem} href={linkTo()}>All runs</Missing>;
  return (
    <>
      <Section id="compare" title="Two runs">
        <div class="side-by-side">
          {answer.map((trace, index) => (
            <Heading key={trace.run.thread} trace={trace} name={NAMES[index]!} />
          ))}
        </div>
      </Section>
      <Section id="answers" title="Answers">
        <div class="side-by-side">
          {answer.map((trace, index) => (
            <article key={index} aria-label={`answer of run ${NAMES[index]}`}>
              <h3>Run {NAMES[index]}</h3>
              <MarkdownText text={listTurns(trace).at(-1)?.answer || (trace.run.status === "running" ? "at work…" : "no answer")} />
              <Lacks trace={trace} />
            </article>
          ))}
        </div>
      </Section>
      <Section id="figures" title="Figures">
        <FigureTable name="compared-figures" kind="Run" figures={compareRuns(...answer)} />
      </Section>
      <Section id="plans" title="Plans">
        <Tasks pairs={compareTasks(...answer)} />
        <div class="side-by-side">
          {answer.map((trace, index) => (
            <Pictures key={index} trace={trace} name={NAMES[index]!} />
          ))}
        </div>
      </Section>
    </>
  );
}

function Heading({ trace, name }: { trace: Trace; name: string }) {
  const turns = listTurns(trace);
  const title = trace.run.title || (turns.length > 1 ? turns[0]!.request : ""); // as in the list of runs
  return (
    <article aria-label={`run ${name}`}>
      <h3>
        Run {name}: <a href={linkTo("runs", trace.run.thread ?? "")}>{formatMoment(trace.run.started)}</a>
      </h3>
      <p>
        <StatusMark status={trace.run.status} /> <Line max={60}>{nameTeam(trace.run.team ?? "")}</Line>
      </p>
      {title && <p><strong><Line max={160}>{title}</Line></strong></p>}
      <p><Line max={300}>{trace.run.request}</Line></p>
    </article>
  );
}

/** What a run's answer lacks. */
function Lacks({ trace }: { trace: Trace }) {
  const gaps = trace.run.status === "running" ? [] : listGaps(trace);
  if (!gaps.length) return null;
  return (
    <>
      <h4>What is missing</h4>
      <ul>
        {gaps.map(({ text, others, problem }, index) => (
          <li key={index}>
            {problem && `${toLine(problem.tasks[0]!.path, 60)} ${labelState(problem.state)}: `}
            <MarkdownLine text={toLine(text, 240)} />
            {others.length > 0 && <span class="soft"> and {others.length} more like this</span>}
          </li>
        ))}
      </ul>
    </>
  );
}

/** The plan and the timeline of one run. */
function Pictures({ trace, name }: { trace: Trace; name: string }) {
  const run = useMemo(() => showRun(trace), [trace]);
  if (!trace.tasks.length) return <p class="soft">Run {name} has no plan.</p>;
  return (
    <RunContext.Provider value={run}>
      <SelectionProvider>
        <article aria-label={`pictures of run ${name}`}>
          <h3>Run {name}</h3>
          <PlanGraph />
          <TimelineSection name={`run ${name}`} />
        </article>
      </SelectionProvider>
    </RunContext.Provider>
  );
}

const Tasks = ({ pairs }: { pairs: TaskPair[] }) => (
  <DataTable
    name="task-pairs"
    label="Tasks of both runs"
    columns={[
      { title: "Task", show: ({ id }) => <Line max={60}>{id}</Line> },
      ...NAMES.map((name, index) => ({ title: `Run ${name}`, show: ({ sides }: TaskPair) => <Line max={120}>{sides[index]}</Line> })),
      { title: "Difference", show: ({ difference }) => difference },
    ]}
    rows={pairs}
    keyOf={({ id }) => id}
  />
);
