import type { ComponentChildren } from "preact";
import { findAnswer } from "../model/answer";
import { findBestStep, listPathSteps, measureWaiting, type PathStep } from "../model/critical-path";
import { countOf, formatCount, formatSeconds, formatUsd } from "../model/format";
import { toLine } from "../model/plain-text";
import { listProblems } from "../model/problems";
import { describeRun } from "../model/run-state";
import { STATE_GLYPHS } from "../model/task-view";
import type { RunStatus, Trace } from "../model/trace";
import { countStates } from "../model/plan-blocks";
import { useRun } from "./run-context";
import { stateClass } from "./state-badge";
import { TaskLink } from "./task-link";
import { Line, Text } from "./text";

const MAX_QUESTION_CHARS = 2000;

/** The request, what became of it, and the figures of the run. */
export function Summary({ trace }: { trace: Trace }) {
  const { run } = trace;
  const state = describeRun(trace);
  return (
    <>
      <blockquote class="request" tabIndex={(run.request?.length ?? 0) > 300 ? 0 : undefined}>
        <Text>{run.request}</Text>
      </blockquote>
      <p class="run-line">
        <span class={`badge state-${state.color}`}>{state.label}</span> <RunFacts trace={trace} />
      </p>
      {state.note && (
        <div class="note" role="note">
          <Text>{state.note}</Text>
          {state.questions.map((question, index) => (
            <p key={index} class="lines">
              <Text>{question.slice(0, MAX_QUESTION_CHARS)}</Text>
            </p>
          ))}
        </div>
      )}
      <CutNote trace={trace} />
      <Figures trace={trace} />
      <Problems />
      <CriticalPath trace={trace} />
    </>
  );
}

/** What a report lacks so that it stays small. */
function CutNote({ trace: { run } }: { trace: Trace }) {
  const [texts, events] = [Number(run["cut_texts"] ?? 0), Number(run["left_out_events"] ?? 0)];
  const parts = [texts > 0 && `long texts are cut in ${countOf(texts, "place")}`, events > 0 && `${countOf(events, "event")} left out`];
  const said = parts.filter(Boolean).join(" and ");
  if (!said) return null;
  return (
    <p class="note" role="note">
      So that this page stays small, {said}. <code>supervise trace {toLine(run.thread || "THREAD", 80)}</code> prints all.
    </p>
  );
}

/** Return an ISO time with its zone: `2026-05-04 10:00:00 UTC`. */
const formatStart = (started = ""): string =>
  started.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?(.*)$/, (_, day: string, time: string, zone: string) =>
    `${day} ${time} ${/^(Z|\+00:00)$/.test(zone) ? "UTC" : zone}`.trim(),
  );

function RunFacts({ trace: { run, events } }: { trace: Trace }) {
  const requests = events.filter((event) => event.kind === "request" && !event.within).length;
  const models = [...new Set(Object.values(run.models ?? {}))].join(", ");
  const facts: [string, unknown][] = [
    ["team", run.team],
    ["started", formatStart(run.started)],
    ["thread", run.thread],
    ["models", models],
    ["request", requests > 1 ? `${formatCount(requests)} of its thread` : ""],
    ["files", run.materials?.join(", ")],
    ["resumed", run.resumed ? countOf(run.resumed, "time") : ""],
  ];
  return (
    <span class="facts">
      {facts
        .filter(([, value]) => value)
        .map(([name, value]) => (
          <span key={name}>
            <span class="soft">{name}</span> <Line max={160}>{value}</Line>
          </span>
        ))}
    </span>
  );
}

/** As in graph/display/summary.py. */
const MIN_PARALLEL_S = 0.001;
const ENDED: ReadonlySet<RunStatus> = new Set(["done", "partial", "failed"]);

const countSome = (list: readonly unknown[], noun: string): string => (list.length ? countOf(list.length, noun) : "");

function Figures({ trace }: { trace: Trace }) {
  const { run, timing, usage } = trace;
  const { byPath } = useRun();
  const answer = findAnswer(trace);
  const counts = countStates([...byPath.values()]);
  const failed = [...counts].filter(([state]) => state !== "done").map(([state, count]) => `${count} ${state}`);
  // If every task was on the critical path, nothing could run in parallel.
  const isParallel = timing.speedup != null && (timing.sequential_s ?? 0) > (timing.critical_path_s ?? 0) + MIN_PARALLEL_S;
  return (
    <dl class="figures">
      <Figure name="Time" value={formatSeconds(timing.wall_s)} note={ENDED.has(run.status) ? "from the request to the end" : "so far"} />
      {isParallel && (
        <>
          <Figure name="One after another" value={formatSeconds(timing.sequential_s)} note="the same steps, summed" />
          <Figure name="Speed-up" value={`× ${timing.speedup!.toFixed(2)}`} note={timing.speedup! >= 1 ? "what working in parallel bought" : "slower than one after another"} />
        </>
      )}
      {timing.critical_path_s != null && (
        <Figure name="Critical path" value={formatSeconds(timing.critical_path_s)} note="the least with any number of workers" />
      )}
      <Figure name="Tasks" value={`${formatCount(counts.get("done") ?? 0)} of ${formatCount(byPath.size)} done`} note={failed.join(", ")} />
      {answer?.confidence != null && (
        <Figure
          name="Confidence"
          value={`${answer.confidence} of 100`}
          note={<a href="#answer">{[countSome(answer.gaps, "gap"), countSome(answer.findings, "finding")].filter(Boolean).join(", ") || "no gaps"}</a>}
        />
      )}
      <Figure
        name="Tokens"
        value={formatCount(usage.input_tokens + usage.output_tokens)}
        note={`${formatCount(usage.output_tokens)} written, ${countOf(usage.model_calls, "model call")}`}
      />
      <Figure name="Cost" value={formatUsd(usage.cost_usd)} note={usage.cost_usd == null ? "a model has no known price" : usage.cost_usd ? "by list prices" : ""} />
    </dl>
  );
}

const Figure = ({ name, value, note }: { name: string; value: ComponentChildren; note: ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd class="value">{value}</dd>
    {note && <dd class="soft small">{note}</dd>}
  </div>
);

const MAX_PROBLEMS = 5;

/** Why tasks have no result: each reason once. */
function Problems() {
  const { tasks } = useRun();
  const problems = listProblems(tasks);
  if (!problems.length) return null;
  const others = problems.slice(MAX_PROBLEMS).reduce((sum, problem) => sum + problem.tasks.length, 0);
  return (
    <>
      <h3>Without a result</h3>
      <ul class="problems">
        {problems.slice(0, MAX_PROBLEMS).map(({ state, reason, tasks: [first, ...more] }) => (
          <li key={`${state} ${first!.path}`}>
            <span class={`badge ${stateClass(state)}`}>
              <span aria-hidden="true">{STATE_GLYPHS[state]}</span> {state}
            </span>{" "}
            <TaskLink path={first!.path} />
            {more.length > 0 && ` and ${countOf(more.length, "other")}`}
            {reason && (
              <>
                : <Line max={240}>{reason}</Line>
              </>
            )}
          </li>
        ))}
        {others > 0 && <li>{countOf(others, "other task")} for other reasons: see the table of tasks.</li>}
      </ul>
    </>
  );
}

const MAX_STEPS = 12;

/** What bounded the run, step by step, and which step would shorten it most, by the recorded times. */
function CriticalPath({ trace }: { trace: Trace }) {
  const { tasks } = useRun();
  const steps = listPathSteps(trace, tasks);
  if (!steps.length) return null;
  const waitedS = measureWaiting(trace.timing);
  return (
    <>
      <h3>Critical path: the longest chain of steps that needed each other</h3>
      <ol class="path-steps">
        {steps.slice(0, MAX_STEPS).map((step, index) => (
          <li key={index}>
            <StepName step={step} /> <span class="soft">{formatSeconds(step.ownS)}</span>
          </li>
        ))}
        {steps.length > MAX_STEPS && <li class="soft">{countOf(steps.length - MAX_STEPS, "further step")}</li>}
      </ol>
      <Gain steps={steps} wholeS={trace.timing.critical_path_s!} />
      {waitedS > 0 && (
        <p>
          Beyond it the run took {formatSeconds(waitedS)}: it waited for limits on calls or workers, or was stopped and resumed.
        </p>
      )}
    </>
  );
}

const StepName = ({ step }: { step: PathStep }) => (step.path ? <TaskLink path={step.path} /> : <span>{step.title}</span>);

function Gain({ steps, wholeS }: { steps: PathStep[]; wholeS: number }) {
  const best = findBestStep(steps);
  const task = findBestStep(steps.filter(({ path }) => path));
  if (!best) return null;
  return (
    <p>
      Most to gain: <StepName step={best} />. Without it the path would take {formatSeconds(wholeS - best.savedS)}
      {best.ownS - best.savedS > 0.005 ? ", as another chain is then the longest." : "."}
      {task && task !== best && (
        <>
          {" "}
          Of the tasks: <StepName step={task} />, {formatSeconds(wholeS - task.savedS)} without it.
        </>
      )}
    </p>
  );
}
