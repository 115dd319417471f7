import { useRun } from "./run-context";
import { PlanGraph } from "./plan-graph";
import { TaskTable } from "./task-table";

/** The plan, drawn and as a table. */
export function PlanSection() {
  const { byPath } = useRun();
  return (
    <>
      <PlanGraph />
      <details open={byPath.size <= 12}>
        <summary>The {byPath.size} tasks as a table</summary>
        <TaskTable />
      </details>
    </>
  );
}
