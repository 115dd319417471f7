import { useMemo } from "preact/hooks";
import { countOf, formatSeconds } from "../model/format";
import { listNeeds, listPlanVersions, type PlanDifference, type PlanNote, type PlanVersion } from "../model/plan-versions";
import type { TaskState } from "../model/task-view";
import type { PlannedTask, Trace } from "../model/trace";
import { stateClass } from "./state-badge";
import { Text } from "./text";

/** Every version of the plan, what led to it, and how it differs from the one before. */
export function PlanVersionsSection({ trace }: { trace: Trace }) {
  const versions = useMemo(() => listPlanVersions(trace), [trace]);
  return (
    <ol class="plan-versions bare">
      {versions.map((version, index) => (
        <li key={index}>
          <Version version={version} number={index + 1} />
        </li>
      ))}
    </ol>
  );
}

const Version = ({ version, number }: { version: PlanVersion; number: number }) => (
  <>
    <Notes notes={version.notes} />
    <h3>
      Version {number}{" "}
      <span class="soft small">
        {version.origin} at {formatSeconds(version.t)} · {countOf(version.plan.tasks.length, "task")}
      </span>
    </h3>
    {version.reason && (
      <p>
        <strong>Why:</strong> <Text>{version.reason}</Text>
      </p>
    )}
    {version.difference ? <Difference difference={version.difference} /> : <Goal goal={version.plan.goal} />}
    <Notes notes={version.later} />
  </>
);

const Notes = ({ notes }: { notes: PlanNote[] }) => (
  <>
    {notes.map(({ t, text }, index) => (
      <p key={index} class="soft small">
        {formatSeconds(t)} <Text>{text}</Text>
      </p>
    ))}
  </>
);

const Goal = ({ goal }: { goal: string }) => (
  <p>
    <strong>Goal:</strong> <Text>{goal}</Text>
  </p>
);

const Difference = ({ difference }: { difference: PlanDifference }) => (
  <ul class="difference bare">
    {difference.added.map((task) => (
      <TaskChange key={task.id} task={task} sign="+" word="added" state="done" />
    ))}
    {difference.removed.map((task) => (
      <TaskChange key={task.id} task={task} sign="−" word="removed" state="failed" />
    ))}
    {difference.changed.map(({ id, parts }) => (
      <li key={id} class="state-escalated">
        <span class="change-sign small">~ changed</span>{" "}
        <strong><Text>{id}</Text></strong>
        <dl>
          {parts.map(({ name, before, after }) => (
            <div key={name}>
              <dt class="soft">{name}</dt>
              <dd>
                <del><Text>{before}</Text></del>{" "}
                <ins><Text>{after}</Text></ins>
              </dd>
            </div>
          ))}
        </dl>
      </li>
    ))}
    {difference.kept.length > 0 && (
      <li class="soft">
        as before: <Text>{difference.kept.join(", ")}</Text>
      </li>
    )}
  </ul>
);

const TaskChange = ({ task, sign, word, state }: { task: PlannedTask; sign: string; word: string; state: TaskState }) => (
  <li class={stateClass(state)}>
    <span class="change-sign small">
      {sign} {word}
    </span>{" "}
    <strong><Text>{task.id}</Text></strong>{" "}
    <span class="soft">
      (<Text>{task.worker}</Text>, needs <Text>{listNeeds(task)}</Text>)
    </span>{" "}
    <Text>{task.description}</Text>
  </li>
);
