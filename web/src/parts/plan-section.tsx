import { countOf } from "../model/format";
import { useRun } from "./run-context";
import { PlanGraph } from "./plan-graph";
import { TaskTable } from "./task-table";
import { useIsPrinting } from "./use-size";

/** The plan, drawn and as a table. */
export function PlanSection() {
  const { byPath } = useRun();
  const isPrinting = useIsPrinting();
  return (
    <>
      <PlanGraph />
      <details open={isPrinting}>
        <summary>{countOf(byPath.size, "task")} as a table</summary>
        <TaskTable />
      </details>
    </>
  );
}
