import { countTasks } from "../model/task-view";
import { useRun } from "./run-context";
import { PlanGraph } from "./plan-graph";
import { TaskTable } from "./task-table";
import { useIsPrinting } from "./use-size";

/** The plan, drawn and as a table. */
export function PlanSection() {
  const { tasks } = useRun();
  const isPrinting = useIsPrinting();
  return (
    <>
      <PlanGraph />
      <details open={isPrinting}>
        <summary>{countTasks(tasks)}, as a table</summary>
        <TaskTable />
      </details>
    </>
  );
}
