import { useMemo, useState } from "preact/hooks";
import { countTokens, sumTaskCosts } from "../model/costs";
import { isWithoutModel } from "../model/estimate";
import { countOf, formatCount, formatSeconds } from "../model/format";
import { toLine } from "../model/plain-text";
import { describeState, listNotable, secondsOf, type TaskView } from "../model/task-view";
import { useRun } from "./run-context";
import { useSelection } from "./selection";
import { SortableTable, type Column } from "./sortable-table";
import { StateBadge } from "./state-badge";
import { TaskLink } from "./task-link";
import { Line } from "./text";
import { useIsPrinting } from "./use-size";

/** More rows are not read on paper. */
const MAX_PRINTED_ROWS = 120;

/** The plan as a table: the same as the drawing, for a search, a screen reader and paper. */
export function TaskTable() {
  const { trace, byPath } = useRun();
  const { path: selected } = useSelection();
  const [query, setQuery] = useState("");
  const isPrinting = useIsPrinting();
  const columns = useMemo(() => {
    const costs = sumTaskCosts(trace);
    const columns = listColumns(({ path }) => (costs.has(path) ? countTokens(costs.get(path)!) : null));
    return isWithoutModel(trace) ? columns.filter(({ title }) => title !== "Tokens") : columns;
  }, [trace]);
  const all = [...byPath.values()];
  const words = query.trim().toLowerCase();
  const found = isPrinting ? listNotable(all, MAX_PRINTED_ROWS) : all.filter((task) => matches(task, words));
  return (
    <>
      <p class="no-print">
        <label>
          Find tasks{" "}
          <input type="search" value={query} placeholder="name, worker or state" onInput={(event) => setQuery(event.currentTarget.value)} />
        </label>{" "}
        <span class="soft small" role="status">
          {formatCount(found.length)} of {formatCount(byPath.size)}
        </span>
      </p>
      <SortableTable
        caption="Tasks"
        columns={columns}
        rows={found}
        keyOf={(task) => task.path}
        classOf={(task) => `${task.path === selected ? "is-selected" : ""} ${task.isCritical ? "is-critical" : ""}`}
        max={isPrinting ? MAX_PRINTED_ROWS : 100}
      />
      {isPrinting && found.length < all.length && (
        <p class="soft small">{found.length} of {countOf(all.length, "task")}: those that failed, were tried again or are on the slowest chain.</p>
      )}
    </>
  );
}

const matches = (task: TaskView, query: string): boolean =>
  !query || [task.path, task.worker, describeState(task)].some((text) => text.toLowerCase().includes(query));

const readTime = (task: TaskView): number | null => (task.startedS === null || task.endedS === null ? null : secondsOf(task));
const listNeeds = (task: TaskView): string =>
  task.needs.map((need) => toLine(need.path.slice(task.path.length - task.id.length), 60) + (need.required ? "" : " (optional)")).join(", ");

const listColumns = (readTokens: (task: TaskView) => number | null): Column<TaskView>[] => [
  { title: "Task", value: (task) => task.path, show: (task) => <TaskName task={task} /> },
  { title: "Worker", value: (task) => task.worker, show: (task) => <Line max={60}>{task.worker}</Line> },
  { title: "State", value: describeState, show: (task) => <StateBadge task={task} /> },
  { title: "Needs", value: listNeeds, show: (task) => <span class="small">{listNeeds(task)}</span> },
  { title: "Time", value: readTime, show: (task) => (readTime(task) === null ? "" : formatSeconds(readTime(task))), kind: "figure" },
  { title: "Attempts", value: (task) => task.attempts, show: (task) => task.attempts || "", kind: "figure" },
  { title: "Tokens", value: readTokens, show: (task) => (readTokens(task) === null ? "" : formatCount(readTokens(task)!)), kind: "figure" },
  { title: "Confidence, of 100", value: (task) => task.confidence, show: (task) => task.confidence ?? "", kind: "figure" },
];

const TaskName = ({ task: { path, isCritical } }: { task: TaskView }) => (
  <>
    <TaskLink path={path} isSwitch />
    {isCritical && <span class="visually-hidden">, on the slowest chain</span>}
  </>
);
