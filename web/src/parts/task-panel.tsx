import type { TaskView } from "../model/task-view";
import { StateBadge } from "./state-badge";
import { Text } from "./text";

/** What is known of one task. */
export const TaskPanel = ({ task }: { task: TaskView }) => (
  <>
    <p>
      <StateBadge task={task} /> <Text>{task.worker}</Text>
    </p>
    <p>
      <Text>{task.description}</Text>
    </p>
    <p>
      <Text>{task.traced.report?.output}</Text>
    </p>
  </>
);
