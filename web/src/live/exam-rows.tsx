import { describeExpectation, type AskedRow, type Exam, type ExamFile, type GradedRow } from "../model/team";
import { DataTable } from "../parts/data-table";
import { Line } from "../parts/text";
import { useAction } from "../client/hooks";
import { ProblemLine } from "../client/notice";
import type { Problem } from "../client/problem";
import { Complaints, Score } from "./exam-parts";
import { linkTo } from "./router";
import type { Server } from "../client/server";
import { startRow } from "./team-server";

interface ExamRowsProps {
  server: Server;
  team: string;
  exam: ExamFile;
  /** The newest result; null if there is none. */
  last: Exam | null;
  /** Why the newest result is not there, although there is one. */
  problem: Problem | null;
  canRun: boolean;
}

/** The rows of a team's exam, each with its last score, and with a button that runs it. */
export function ExamRows({ server, team, exam, last, problem, canRun }: ExamRowsProps) {
  const graded = new Map(last?.rows.map((each) => [each.id, each] as const));
  return (
    <>
      <ProblemLine problem={problem} />
      <p class="soft small">
        {last ? "Scores of the newest result." : problem ? "Its newest result could not be loaded." : "No results yet."}
        {exam.count > exam.rows.length && ` The first ${exam.rows.length} of ${exam.count} rows.`}
      </p>
      <DataTable
        name="exam-rows"
        label="Rows of the exam"
        columns={[
          { title: "Row", show: ({ id }) => <Line max={60}>{id}</Line> },
          { title: "Request, and what is expected", kind: "request-cell", show: (row) => <RequestCell row={row} graded={graded.get(row.id)} /> },
          { title: "Score", kind: "figure", show: ({ id }) => <Score value={graded.get(id)?.score ?? null} /> },
          { title: <span class="visually-hidden">Run</span>, show: ({ id }) => canRun && <RunButton server={server} team={team} row={id} /> },
        ]}
        rows={exam.rows}
        keyOf={({ id }) => id}
      />
    </>
  );
}

function RunButton({ server, team, row }: { server: Server; team: string; row: string }) {
  const action = useAction(async () => {
    location.hash = linkTo("runs", await startRow(server, team, row));
  });
  return (
    <>
      <button type="button" disabled={action.isBusy} aria-label={`run ${row}`} onClick={action.start}>
        {action.isBusy ? "Starting…" : "Run"}
      </button>
      <ProblemLine problem={action.problem} />
    </>
  );
}

const RequestCell = ({ row, graded }: { row: AskedRow; graded: GradedRow | undefined }) => (
  <>
    <Line max={400}>{row.request}</Line>
    <details class="soft small">
      <summary>What is expected</summary>
      <Line max={300}>{describeExpectation(row.expect)}</Line>
      {row.files.length > 0 && (
        <>
          {" · files: "}
          <Line max={200}>{row.files.join(", ")}</Line>
        </>
      )}
      {row.worker && (
        <>
          {" · "}the exam gives it to <Line max={60}>{row.worker}</Line> alone; a run from here is planned
        </>
      )}
    </details>
    <Complaints texts={graded?.complaints} />
  </>
);
