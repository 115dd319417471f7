import { findBestStep, listPathSteps, measureWaiting, type PathStep } from "../model/critical-path";
import { countOf, formatSeconds } from "../model/format";
import type { Trace } from "../model/trace";
import { useRun } from "./run-context";
import { TaskLink } from "./task-link";

const MAX_STEPS = 12;

/** Seconds of a run from which its slowest step is named. */
const MIN_NAMED_S = 1;

/** The steps that the run's time went into, and which of them was the slowest to wait for. */
export function CriticalPath({ trace }: { trace: Trace }) {
  const { tasks } = useRun();
  const steps = listPathSteps(trace, tasks);
  if (!steps.length) return null;
  const waitedS = measureWaiting(trace.timing);
  return (
    <>
      <h3>Slowest chain of steps that needed each other</h3>
      <ol class="path-steps">
        {steps.slice(0, MAX_STEPS).map((step, index) => (
          <li key={index}>
            <StepName step={step} /> <span class="soft">{formatSeconds(step.ownS)}</span>
          </li>
        ))}
        {steps.length > MAX_STEPS && <li class="soft">{countOf(steps.length - MAX_STEPS, "further step")}</li>}
      </ol>
      <SlowestStep steps={steps} wholeS={trace.timing.critical_path_s!} />
      {waitedS > 0 && (
        <p>
          {formatSeconds(waitedS)} more between its steps: for limits on calls or workers, or while the run was stopped.
        </p>
      )}
    </>
  );
}

const StepName = ({ step }: { step: PathStep }) => (step.path ? <TaskLink path={step.path} /> : <span>{step.title}</span>);

function SlowestStep({ steps, wholeS }: { steps: PathStep[]; wholeS: number }) {
  const slowest = findBestStep(steps);
  if (!slowest || wholeS < MIN_NAMED_S) return null;
  return (
    <p>
      Slowest step: <StepName step={slowest} />.
    </p>
  );
}
