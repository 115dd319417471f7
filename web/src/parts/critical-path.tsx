import { findBestStep, listPathSteps, measureWaiting, type PathStep } from "../model/critical-path";
import { countOf, formatSeconds } from "../model/format";
import type { Trace } from "../model/trace";
import { useRun } from "./run-context";
import { TaskLink } from "./task-link";

const MAX_STEPS = 12;

/** What bounded the run, step by step, and which step would shorten it most, by the recorded times. */
export function CriticalPath({ trace }: { trace: Trace }) {
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
          Beyond it the run took {formatSeconds(waitedS)}: between its steps, waiting for limits on calls or workers, or stopped.
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
