import { STATE_GLYPHS, describeState, type TaskState, type TaskView } from "../model/task-view";

/** Return the class that colours a state. */
export const stateClass = (state: TaskState): string => `state-${state.replace(" ", "-")}`;

/** A task's state by its colour, its sign and its word. */
export const StateBadge = ({ task }: { task: TaskView }) => (
  <span class={`badge ${stateClass(task.state)}`}>
    <span aria-hidden="true">{STATE_GLYPHS[task.state]}</span> {describeState(task)}
  </span>
);
