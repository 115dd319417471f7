import { formatSeconds } from "../model/format";
import type { TaskDetails } from "../model/task-details";
import { secondsOf } from "../model/task-view";
import { AttemptLadder } from "./attempt-ladder";
import { HandoffView } from "./handoff-view";
import { LongText } from "./long-text";
import { StateBadge } from "./state-badge";
import { TaskLink } from "./task-link";
import { TaskReport } from "./task-report";
import { Text } from "./text";
import { WhyTask } from "./why";

/** All that a trace says of one task. */
export const TaskDetailsView = ({ details }: { details: TaskDetails }) => {
  const { task, attempts, begunS, costs } = details;
  return (
    <article class="task-details">
      <p class="task-facts flow">
        <StateBadge task={task} />
        <span>
          by <Text>{task.traced.report?.worker || task.worker}</Text>
        </span>
        {begunS !== null && (
          <span>
            {task.endedS !== null && `${formatSeconds(secondsOf(task))}, `}
            begun {formatSeconds(begunS)} after the request
          </span>
        )}
        {task.isCritical && <span class="critical">on the slowest chain</span>}
      </p>
      {task.traced.reason && (
        <p class="problem">
          Skipped: <Text>{task.traced.reason}</Text>
        </p>
      )}
      <WhyTask path={task.path} />
      <LongText text={task.description} />
      <TaskReport details={details} />
      {attempts.length > 0 && <AttemptLadder attempts={attempts} costs={costs} />}
      {task.inner.length > 0 && (
        <>
          <h3>Done by a team of its own</h3>
          <ul class="inner-tasks">
            {task.inner.map((inner) => (
              <li key={inner.path}>
                <StateBadge task={inner} /> <TaskLink path={inner.path} />
              </li>
            ))}
          </ul>
        </>
      )}
      <HandoffView details={details} />
    </article>
  );
};
