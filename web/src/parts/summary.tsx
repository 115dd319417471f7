import type { ComponentChildren } from "preact";
import { findAnswer } from "../model/answer";
import { countOf, formatCount, formatSeconds, formatUsd } from "../model/format";
import { toLine } from "../model/plain-text";
import { describeRun } from "../model/run-state";
import { ENDED } from "../model/run-status";
import { labelState } from "../model/task-view";
import type { Trace } from "../model/trace";
import { countStates } from "../model/plan-blocks";
import { CriticalPath } from "./critical-path";
import { Problems } from "./problems";
import { useRun } from "./run-context";
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
const MIN_SPEEDUP = 1.2;

const countSome = (list: readonly unknown[], noun: string): string => (list.length ? countOf(list.length, noun) : "");

function Figures({ trace }: { trace: Trace }) {
  const { run, timing, usage } = trace;
  const { byPath } = useRun();
  const answer = findAnswer(trace);
  const counts = countStates([...byPath.values()]);
  const failed = [...counts].filter(([state]) => state !== "done").map(([state, count]) => `${count} ${labelState(state)}`);
  const isParallel = timing.speedup != null && timing.speedup >= MIN_SPEEDUP;
  return (
    <dl class="figures">
      <Figure name="Time" value={formatSeconds(timing.wall_s)} note={ENDED.includes(run.status) ? "from the request to the end" : "so far"} />
      {isParallel && (
        <Figure name="Without parallel work" value={formatSeconds(timing.sequential_s)} note="about, had nothing waited at the same time" />
      )}
      {timing.critical_path_s != null && (
        <Figure name="Slowest chain" value={formatSeconds(timing.critical_path_s)} note="of steps that needed each other" />
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
