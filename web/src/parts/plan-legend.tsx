import { labelState, STATE_GLYPHS, type TaskView } from "../model/task-view";
import { countStates } from "../model/plan-blocks";
import { stateClass } from "./state-badge";

/** What the signs and the lines of the drawing mean. */
export function PlanLegend({ tasks, isTable }: { tasks: readonly TaskView[]; isTable: boolean }) {
  const needs = tasks.flatMap((task) => task.needs);
  return (
    <ul class="legend bare small">
      {[...countStates(tasks)].map(([state, count]) => (
        <li key={state} class={stateClass(state)}>
          <span class="legend-state" aria-hidden="true">{STATE_GLYPHS[state]}</span>{" "}
          {count} {labelState(state)}
        </li>
      ))}
      {tasks.some((task) => task.isCritical) && <LegendLine mark="is-critical" label="slowest chain" />}
      {isTable && <li>a row for each worker, a column for each step; other edges of the selected task only</li>}
      {!isTable && needs.some((need) => need.required) && <LegendLine mark="" label="required" />}
      {!isTable && needs.some((need) => !need.required) && <LegendLine mark="is-optional" label="optional" />}
      {needs.some((need) => need.isMissing) && <LegendLine mark="is-missing" label="without a result" />}
    </ul>
  );
}

const LegendLine = ({ mark, label }: { mark: string; label: string }) => (
  <li>
    <svg width="28" height="10" aria-hidden="true">
      <path class={`edge ${mark}`} d="M0 5H28" />
    </svg>{" "}
    {label}
  </li>
);
