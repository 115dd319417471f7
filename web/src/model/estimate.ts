import { countOf, formatSeconds, formatUsd } from "./format";
import { oncePerTrace } from "./once-per-trace";
import type { Estimate, Trace } from "./trace";

type Show = (value: number | null | undefined) => string;

/** Return the range in which nine of ten runs end, in brackets; empty where it is not known, or is one value. */
function describeRange(show: Show, low: number | null | undefined, high: number | null | undefined): string {
  return low == null || high == null || show(low) === show(high) ? "" : ` (${show(low)} to ${show(high)})`;
}

/** Return one amount of an estimate: `12 s (10 s to 30 s)`. */
export const describeAmount = ({ low, high, ...expected }: Estimate, amount: "seconds" | "cost_usd" | "model_calls", show: Show): string =>
  show(expected[amount]) + describeRange(show, low?.[amount], high?.[amount]);

export const NO_MODEL = "no language model";

/** Return whether all models are the built-in one, whose calls and tokens say nothing to a reader. */
export const isBuiltIn = (models: object | undefined): boolean => {
  const names = Object.values(models ?? {});
  return names.length > 0 && names.every((name) => name === "embedded");
};

/** Whether no language model is at work in a run: none is set up, or none of its calls was to one. */
export const isWithoutModel = oncePerTrace(({ run, events }: Trace): boolean => {
  const called = events.filter(({ kind }) => kind === "model_call");
  return run.models && Object.keys(run.models).length ? isBuiltIn(run.models) : isBuiltIn(called.map(({ model }) => model));
});

/** Return an estimate in words. */
export function describeEstimate(estimate: Estimate): string {
  const { low, high } = estimate;
  if (isBuiltIn(estimate.models)) return estimate.seconds == null ? NO_MODEL : describeAmount(estimate, "seconds", formatSeconds);
  const parts = [
    estimate.seconds != null && describeAmount(estimate, "seconds", formatSeconds),
    estimate.cost_usd == null ? "cost unknown" : describeAmount(estimate, "cost_usd", formatUsd),
    `${countOf(estimate.model_calls, "model call")}${describeRange(String, low?.model_calls, high?.model_calls)}`,
  ];
  return parts.filter(Boolean).join(" · ");
}
