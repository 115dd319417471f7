import { listPathSteps } from "../model/critical-path";
import { countOf, formatSeconds } from "../model/format";
import type { Trace } from "../model/trace";
import { useRun } from "./run-context";
import { TaskLink } from "./task-link";

const MAX_STEPS = 12;

/** The steps that the run's time went into. */
export function CriticalPath({ trace }: { trace: Trace }) {
  const steps = listPathSteps(trace, useRun().tasks);
  if (!steps.length) return null;
  return (
    <>
      <h3>Slowest chain of steps that needed each other</h3>
      <ol class="path-steps bare">
        {steps.slice(0, MAX_STEPS).map(({ path, title, ownS }, index) => (
          <li key={index}>
            {path ? <TaskLink path={path} /> : title} <span class="soft">{formatSeconds(ownS)}</span>
          </li>
        ))}
        {steps.length > MAX_STEPS && <li class="soft">{countOf(steps.length - MAX_STEPS, "further step")}</li>}
      </ol>
    </>
  );
}
