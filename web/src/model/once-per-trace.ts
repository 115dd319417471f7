import type { Trace } from "./trace";

/** Return a function of a trace that computes its result once for each trace; traces do not change. */
export function oncePerTrace<Result>(compute: (trace: Trace) => Result): (trace: Trace) => Result {
  const results = new WeakMap<Trace, { result: Result }>();
  return (trace) => {
    const known = results.get(trace) ?? { result: compute(trace) };
    results.set(trace, known);
    return known.result;
  };
}
