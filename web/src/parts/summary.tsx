import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { findAnswer } from "../model/answer";
import { describeAmount, isWithoutModel } from "../model/estimate";
import { countOf, formatCount, formatSeconds, formatUsd } from "../model/format";
import { countStates } from "../model/plan-blocks";
import { describeEdit } from "../model/plan-versions";
import { describeRun } from "../model/run-state";
import { labelState } from "../model/task-view";
import type { Trace } from "../model/trace";
import { useRun } from "./run-context";
import { Line, Text } from "./text";

const MAX_QUESTION_CHARS = 2000;
const CLOCK_MS = 250;

/** The request, what became of it, and what that took. */
export function Summary({ trace, isAsking, resume }: { trace: Trace; isAsking: boolean; resume?: ComponentChildren }) {
  const { run } = trace;
  const state = describeRun(trace);
  const edit = describeEdit(trace);
  // A question stands below, and an answer of passages says so itself.
  const note = isAsking || (run.status === "passages" && findAnswer(trace)) ? "" : state.note;
  return (
    <section id="summary" aria-labelledby="summary-title" class="run-summary">
      <h2 id="summary-title" class={run.title ? "soft small" : "visually-hidden"}><Line max={160}>{run.title || "Request"}</Line></h2>
      <blockquote class="request" tabIndex={(run.request?.length ?? 0) > 120 ? 0 : undefined}>
        <Text>{run.request}</Text>
      </blockquote>
      <p class="run-line flow">
        <span class={`badge state-${state.color}`}>{state.label}</span>
        {edit && <a href="#plan-versions"><Line max={200}>{edit}</Line></a>}
        <Figures trace={trace} />
      </p>
      {note && (
        <div class="note" role="note">
          <Text>{note}</Text> {resume}
          {state.questions.map((question, index) => (
            <p key={index} class="lines"><Text>{question.slice(0, MAX_QUESTION_CHARS)}</Text></p>
          ))}
        </div>
      )}
    </section>
  );
}

/** Time, cost, tasks and confidence, on one line. */
function Figures({ trace }: { trace: Trace }) {
  const { timing, usage } = trace;
  const { byPath } = useRun();
  const confidence = findAnswer(trace)?.confidence;
  const counts = countStates([...byPath.values()]);
  const failed = [...counts].filter(([state]) => state !== "done").map(([state, count]) => `${count} ${labelState(state)}`);
  const done = `${formatCount(counts.get("done") ?? 0)} of ${formatCount(byPath.size)} done`;
  return (
    <>
      {timing.wall_s != null && (
        <span title="At work; while it waits for you, no time is counted">
          <Clock seconds={timing.wall_s} isLive={trace.run.now_s !== undefined} /> <Expected amount="seconds" trace={trace} format={formatSeconds} />
        </span>
      )}
      {!isWithoutModel(trace) && <span>
        {usage.cost_usd == null ? "cost unknown" : formatUsd(usage.cost_usd)} <Expected amount="cost_usd" trace={trace} format={formatUsd} />
      </span>}
      {byPath.size > 0 && (
        <span>
          <span class="soft">tasks</span> {[done, ...failed].join(", ")}
        </span>
      )}
      {confidence != null && (
        <span>
          <span class="soft">confidence</span> {confidence} of 100
        </span>
      )}
    </>
  );
}

/** A time that goes on while the run is at work: all else is drawn less often. */
function Clock({ seconds, isLive }: { seconds: number; isLive: boolean }) {
  const since = useMemo(() => performance.now(), [seconds]);
  const [now, setNow] = useState(0);
  useEffect(() => {
    if (!isLive) return;
    const timer = setInterval(() => setNow(performance.now()), CLOCK_MS);
    return () => clearInterval(timer);
  }, [isLive]);
  return <>{formatSeconds(seconds + (isLive ? Math.max(0, now - since) / 1000 : 0))}</>;
}

interface ExpectedProps {
  amount: "seconds" | "cost_usd";
  trace: Trace;
  format: (value: number | null | undefined) => string;
}

/** What of an amount a run at work is expected to take. */
function Expected({ amount, trace: { run, usage }, format }: ExpectedProps) {
  const { estimate } = usage;
  if (run.now_s === undefined || !estimate?.[amount]) return null;
  return <span class="soft">of about {describeAmount(estimate, amount, format)}</span>;
}

/** Return an ISO time with its zone: `2026-05-04 10:00:00 UTC`. */
const formatStart = (started = ""): string =>
  started.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?(.*)$/, (_, day: string, time: string, zone: string) =>
    `${day} ${time} ${/^(Z|\+00:00)$/.test(zone) ? "UTC" : zone}`.trim(),
  );

/** As in graph/display/summary.py. */
const MIN_SPEEDUP = 1.2;

/** Who did it, with what, and when; and what a report lacks so that it stays small. */
export function RunFacts({ trace }: { trace: Trace }) {
  const { run, events, timing } = trace;
  const requests = events.filter((event) => event.kind === "request" && !event.within).length;
  const models = [...new Set(Object.values(run.models ?? {}))].join(", ");
  const facts: [string, unknown][] = [
    ["team", run.team],
    ["started", formatStart(run.started)],
    ["thread", run.thread],
    ["models", isWithoutModel(trace) ? "" : models],
    ["without parallel work", (timing.speedup ?? 0) >= MIN_SPEEDUP ? `about ${formatSeconds(timing.sequential_s)}` : ""],
    ["request", requests > 1 ? `${formatCount(requests)} of its thread` : ""],
    ["files", run.materials?.join(", ")],
    ["resumed", run.resumed ? countOf(run.resumed, "time") : ""],
  ];
  const [texts, left] = [Number(run["cut_texts"] ?? 0), Number(run["left_out_events"] ?? 0)];
  const cut = [texts > 0 && `long texts are cut in ${countOf(texts, "place")}`, left > 0 && `${countOf(left, "event")} left out`];
  const said = cut.filter(Boolean).join(" and ");
  return (
    <>
      <p class="facts flow small">
        {facts
          .filter(([, value]) => value)
          .map(([name, value]) => (
            <span key={name}>
              <span class="soft">{name}</span> <Line max={160}>{value}</Line>
            </span>
          ))}
      </p>
      {said && (
        <p class="note" role="note">
          So that this page stays small, {said}. The run's trace has all.
        </p>
      )}
    </>
  );
}
