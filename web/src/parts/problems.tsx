import { countOf } from "../model/format";
import { listProblems } from "../model/problems";
import { labelState, STATE_GLYPHS } from "../model/task-view";
import { useRun } from "./run-context";
import { stateClass } from "./state-badge";
import { TaskLink } from "./task-link";
import { Line } from "./text";

const MAX_PROBLEMS = 5;

/** Why tasks have no result: each reason once. */
export function Problems() {
  const { tasks } = useRun();
  const problems = listProblems(tasks);
  if (!problems.length) return null;
  const others = problems.slice(MAX_PROBLEMS).reduce((sum, problem) => sum + problem.tasks.length, 0);
  return (
    <>
      <h3>Without a result</h3>
      <ul class="problems">
        {problems.slice(0, MAX_PROBLEMS).map(({ state, reason, tasks: [first, ...more] }) => (
          <li key={`${state} ${first!.path}`}>
            <span class={`badge ${stateClass(state)}`}>
              <span aria-hidden="true">{STATE_GLYPHS[state]}</span> {labelState(state)}
            </span>{" "}
            <TaskLink path={first!.path} />
            {more.length > 0 && ` and ${countOf(more.length, "other")}`}
            {reason && (
              <>
                : <Line max={240}>{reason}</Line>
              </>
            )}
          </li>
        ))}
        {others > 0 && <li>{countOf(others, "other task")} for other reasons: see the table of tasks.</li>}
      </ul>
    </>
  );
}
