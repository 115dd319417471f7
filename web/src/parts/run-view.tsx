import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { findAnswer } from "../model/answer";
import { countOf, formatCount, formatSeconds } from "../model/format";
import { isWithoutModel, NO_MODEL } from "../model/estimate";
import { MADE, selectSections, type RunSection } from "./run-sections";
import { countTasks, type TaskView } from "../model/task-view";
import type { Trace } from "../model/trace";
import { Alive } from "./feed";
import { PrintedDetails } from "./printed-details";
import { RunContext, showRun, useRun } from "./run-context";
import { SelectedTask } from "./selected-task";
import { SelectionProvider } from "./selection";
import { Section } from "./shell";
import { RunFacts, Summary } from "./summary";
import { useListener } from "./use-listener";
import { useIsPrinting } from "./use-size";
import { listPathSteps } from "../model/critical-path";
import { TaskLink } from "./task-link";

interface RunViewProps {
  trace: Trace;
  /** Path of the task that is selected at first. */
  start?: string | undefined;
  onSelect?: ((path: string) => void) | undefined;
  /** What the run asks, with its forms: it then stands alone. */
  asking?: ComponentChildren;
  /** What goes on with a run that did not come to its end, where there is a server. */
  resume?: ComponentChildren;
  /** What can be done with a task, where there is a server. */
  actOn?: ((task: TaskView) => ComponentChildren) | undefined;
}

/** Everything about one run, drawn from its trace; the same in the report and in the live page. */
export function RunView({ trace, start, onSelect, asking, resume, actOn }: RunViewProps) {
  const run = useMemo(() => showRun(trace), [trace]);
  const { answer, beside, made } = selectSections(trace);
  const isAsking = asking !== undefined && trace.run.status === "needs_input";
  const isAlive = trace.run.now_s !== undefined && !answer.length;
  useListener("click", openTarget);
  return (
    <RunContext.Provider value={run}>
      <SelectionProvider start={start} onSelect={onSelect}>
        <Summary trace={trace} isAsking={isAsking} resume={resume} />
        {asking}
        {isAlive && <Alive trace={trace} />}
        <div class={answer.length ? "outcome" : ""}>
          {answer.length > 0 && <Sections trace={trace} sections={answer} />}
          {!isAlive && !isAsking && beside.length > 0 && (
            <div>
              <Sections trace={trace} sections={beside} />
            </div>
          )}
        </div>
        <HowItWasMade trace={trace} sections={isAsking && !trace.events.some(({ kind }) => kind === "task_started") ? made.filter(({ id }) => !PLANNED.includes(id)) : made} />
        <SelectedTask actOn={actOn} />
        <PrintedDetails />
      </SelectionProvider>
    </RunContext.Provider>
  );
}

/** Of a plan that waits for approval: it is shown in its form. */
const PLANNED = ["plan", "timeline"];

const Sections = ({ trace, sections }: { trace: Trace; sections: RunSection[] }) => (
  <>
    {sections.map(({ id, title, Part }) => (
      <Section key={id} id={id} title={title}>
        <Part trace={trace} />
      </Section>
    ))}
  </>
);

/** Whether no reader has the keyboard in an element, or has scrolled into it. */
const isUnread = (element: HTMLElement): boolean => !element.matches(":focus-within") && element.getBoundingClientRect().top >= 0;

/** The plan, the times and the costs: open while the run works, folded before there is a plan, beside a question, after a stop, and when the answer comes, if it is not read just then. */
function HowItWasMade({ trace, sections }: { trace: Trace; sections: RunSection[] }) {
  const hasAnswer = Boolean(findAnswer(trace));
  const isIdle = ["needs_input", "stopped"].includes(trace.run.status) || !trace.tasks.length;
  const made = useRef<HTMLDetailsElement>(null);
  // A pointer that rests where the form was does not read what comes below it.
  const isPointedAt = useRef(false);
  const [isOpen, setOpen] = useState(!hasAnswer && !isIdle);
  const isPrinting = useIsPrinting();
  const run = useRun();
  useEffect(() => {
    if (!hasAnswer) setOpen(!isIdle);
    else if (made.current && !isPointedAt.current && isUnread(made.current)) setOpen(false);
    isPointedAt.current = false;
  }, [hasAnswer, isIdle]);
  return (
    <details ref={made} onPointerMove={({ movementX, movementY }) => (isPointedAt.current ||= Boolean(movementX || movementY))} id={MADE.id} class="made" open={isOpen || isPrinting} onToggle={(event) => !isPrinting && setOpen(event.currentTarget.open)}>
      <summary>
        <h2>{MADE.title}</h2>{" "}
        <span class="soft small">
          {countTasks(run.tasks)}, {isWithoutModel(trace) ? NO_MODEL : `${countOf(trace.usage.model_calls, "model call")}, ${formatCount(trace.usage.input_tokens + trace.usage.output_tokens)} tokens`}
        </span>
      </summary>
      <RunFacts trace={trace} />
      <CriticalPath trace={trace} />
      <Sections trace={trace} sections={sections} />
    </details>
  );
}

/** Open whatever a pressed link of the page leads into. */
function openTarget(event: MouseEvent): void {
  const link = event.target instanceof Element ? event.target.closest('a[href^="#"]') : null;
  const id = link?.getAttribute("href")?.slice(1);
  // After it was drawn, where it was not.
  setTimeout(() => {
    const target = id ? document.getElementById(id) : null;
    for (let each = target?.closest("details"); each; each = each.parentElement?.closest("details")) each.open = true;
    if (target instanceof HTMLDetailsElement) target.scrollIntoView({ block: "start" });
  });
}

const MAX_STEPS = 12;

/** The steps that the run's time went into. */
function CriticalPath({ trace }: { trace: Trace }) {
  const steps = listPathSteps(trace, useRun().tasks);
  if (!steps.length) return null;
  return (
    <>
      <h3>Slowest chain of steps that needed each other</h3>
      <ol class="path-steps bare flow">
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
