import { useState } from "preact/hooks";
import { formatSeconds } from "../model/format";
import { toLine } from "../model/plain-text";
import { describeState, secondsOf, type TaskView } from "../model/task-view";
import { useRun } from "./run-context";
import { useSelection } from "./selection";
import { StateBadge } from "./state-badge";
import { Line } from "./text";
import { useIsPrinting } from "./use-size";

const FIRST_ROWS = 100;

/** The plan as a table: the same as the drawing, for a search, a screen reader and paper. */
export function TaskTable() {
  const { byPath } = useRun();
  const [query, setQuery] = useState("");
  const [isWhole, setIsWhole] = useState(false);
  const isPrinting = useIsPrinting();
  const found = [...byPath.values()].filter((task) => matches(task, query.trim().toLowerCase()));
  const shown = isWhole || isPrinting ? found : found.slice(0, FIRST_ROWS);
  return (
    <>
      <p class="no-print">
        <label>
          Find tasks{" "}
          <input type="search" value={query} placeholder="name, worker or state" onInput={(event) => setQuery(event.currentTarget.value)} />
        </label>{" "}
        <span class="soft small" role="status">
          {found.length} of {byPath.size}
        </span>
      </p>
      <div class="table-scroll" tabIndex={0} role="region" aria-label="Tasks">
        <table class="task-table">
          <thead>
            <tr>
              <th scope="col">Task</th>
              <th scope="col">Worker</th>
              <th scope="col">State</th>
              <th scope="col">Needs</th>
              <th scope="col" class="figure">
                Time
              </th>
              <th scope="col" class="figure">
                Attempts
              </th>
              <th scope="col" class="figure">
                Confidence
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.map((task) => (
              <TaskRow key={task.path} task={task} />
            ))}
          </tbody>
        </table>
      </div>
      {shown.length < found.length && (
        <button type="button" class="no-print" onClick={() => setIsWhole(true)}>
          Show all {found.length}
        </button>
      )}
    </>
  );
}

const matches = (task: TaskView, query: string): boolean =>
  !query || [task.path, task.worker, describeState(task)].some((text) => text.toLowerCase().includes(query));

function TaskRow({ task }: { task: TaskView }) {
  const { path, select } = useSelection();
  const isSelected = path === task.path;
  return (
    <tr class={`${isSelected ? "is-selected" : ""} ${task.isCritical ? "is-critical" : ""}`}>
      <th scope="row">
        <button type="button" class="link" aria-pressed={isSelected} onClick={() => select(isSelected ? "" : task.path)}>
          <Line max={80}>{task.path}</Line>
        </button>
        {task.isCritical && <span class="visually-hidden">, on the critical path</span>}
      </th>
      <td>
        <Line max={60}>{task.worker}</Line>
      </td>
      <td>
        <StateBadge task={task} />
      </td>
      <td class="small">
        {task.needs.map((need) => toLine(need.path.slice(task.path.length - task.id.length), 60) + (need.required ? "" : " (optional)")).join(", ")}
      </td>
      <td class="figure">{task.endedS === null ? "" : formatSeconds(secondsOf(task))}</td>
      <td class="figure">{task.attempts || ""}</td>
      <td class="figure">{task.confidence === null ? "" : `${task.confidence} %`}</td>
    </tr>
  );
}
