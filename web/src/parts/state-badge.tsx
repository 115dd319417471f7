import { PASSAGES_GLYPH } from "../model/run-state";
import { STATE_GLYPHS, describeState, type TaskState, type TaskView } from "../model/task-view";

/** Return the class that colours a state. */
export const stateClass = (state: TaskState): string => `state-${state.replace(" ", "-")}`;

/** A task's state by its colour, its sign and its word. */
export const StateBadge = ({ task }: { task: TaskView }) => (
  <span class={`badge ${task.isUnread ? "state-passages" : stateClass(task.state)}`}>
    <span aria-hidden="true">{task.isUnread ? PASSAGES_GLYPH : STATE_GLYPHS[task.state]}</span> {describeState(task)}
  </span>
);
