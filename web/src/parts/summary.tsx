import type { ComponentChildren } from "preact";
import { listSavings } from "../model/critical-path";
import { countOf, formatCount, formatSeconds, formatUsd } from "../model/format";
import { toLine } from "../model/plain-text";
import { describeRun } from "../model/run-state";
import type { RunStatus, Trace } from "../model/trace";
import { countStates } from "../model/plan-blocks";
import { useRun } from "./run-context";
import { useSelection } from "./selection";
import { Line, Text } from "./text";

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
        <p class="note" role="note">
          <Text>{state.note}</Text>
        </p>
      )}
      <CutNote trace={trace} />
      <Figures trace={trace} />
      <Shortening trace={trace} />
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

function RunFacts({ trace: { run } }: { trace: Trace }) {
  const models = [...new Set(Object.values(run.models ?? {}))].join(", ");
  const facts: [string, unknown][] = [
    ["team", run.team],
    ["started", run.started?.slice(0, 19).replace("T", " ")],
    ["thread", run.thread],
    ["models", models],
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

const ENDED: ReadonlySet<RunStatus> = new Set(["done", "partial", "failed"]);

function Figures({ trace: { run, timing, usage } }: { trace: Trace }) {
  const { byPath } = useRun();
  const counts = countStates([...byPath.values()]);
  const failed = [...counts].filter(([state]) => state !== "done").map(([state, count]) => `${count} ${state}`);
  const isParallel = timing.sequential_s != null && timing.wall_s != null && (timing.speedup ?? 0) > 1;
  return (
    <dl class="figures">
      <Figure name="Time" value={formatSeconds(timing.wall_s)} note={ENDED.has(run.status) ? "from the request to the end" : "so far"} />
      {isParallel && (
        <>
          <Figure name="One after another" value={formatSeconds(timing.sequential_s)} note="the same steps, summed" />
          <Figure name="Speed-up" value={`× ${timing.speedup!.toFixed(2)}`} note="what working in parallel bought" />
        </>
      )}
      {timing.critical_path_s != null && (
        <Figure name="Critical path" value={formatSeconds(timing.critical_path_s)} note="no number of workers is faster" />
      )}
      <Figure name="Tasks" value={`${counts.get("done") ?? 0} of ${byPath.size} done`} note={failed.join(", ")} />
      <Figure
        name="Tokens"
        value={formatCount(usage.input_tokens + usage.output_tokens)}
        note={`${formatCount(usage.output_tokens)} written, ${countOf(usage.model_calls, "model call")}`}
      />
      <Figure name="Cost" value={formatUsd(usage.cost_usd)} note={usage.cost_usd == null ? "a model has no known price" : ""} />
    </dl>
  );
}

const Figure = ({ name, value, note }: { name: string; value: ComponentChildren; note: string }) => (
  <div>
    <dt>{name}</dt>
    <dd class="value">{value}</dd>
    {note && <dd class="soft small">{note}</dd>}
  </div>
);

/** Which task would shorten the run most, by the recorded times. */
function Shortening({ trace: { timing } }: { trace: Trace }) {
  const { tasks } = useRun();
  const { select } = useSelection();
  const [best] = listSavings(tasks);
  if (!best || best.savedS <= 0 || timing.critical_path_s == null) return null;
  const after = timing.critical_path_s - best.savedS;
  return (
    <p>
      Most would be gained by a faster{" "}
      <button type="button" class="link" onClick={() => select(best.path)}>
        <Line max={80}>{best.path}</Line>
      </button>
      : it took {formatSeconds(best.ownS)}; without it the critical path would be {formatSeconds(best.savedS)} shorter, {formatSeconds(after)}.
      {best.ownS - best.savedS > 0.005 && " Then another chain of tasks is the longest."}
    </p>
  );
}
