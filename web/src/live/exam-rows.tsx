import { describeExpectation, type AskedRow, type Exam, type ExamFile, type GradedRow } from "../model/team";
import { Score } from "../parts/score";
import { Line } from "../parts/text";
import { useAction } from "../client/hooks";
import { ProblemLine } from "../client/notice";
import type { Problem } from "../client/problem";
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
        {last ? "Scores of the newest result." : problem ? "Its newest result could not be loaded." : `No results yet. Run supervise eval ${team}.`}
        {exam.count > exam.rows.length && ` The first ${exam.rows.length} of ${exam.count} rows.`}
      </p>
      <div class="table-scroll" tabIndex={0} role="region" aria-label="Rows of the exam">
        <table class="exam-rows">
          <thead>
            <tr>
              <th scope="col">Row</th>
              <th scope="col">Request, and what is expected</th>
              <th scope="col" class="figure">
                Score
              </th>
              <th scope="col">
                <span class="visually-hidden">Run</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {exam.rows.map((each) => (
              <tr key={each.id}>
                <th scope="row">
                  <Line max={60}>{each.id}</Line>
                </th>
                <RequestCell row={each} graded={graded.get(each.id)} />
                <td class="figure">
                  <Score value={graded.get(each.id)?.score ?? null} />
                </td>
                <td>{canRun && <RunButton server={server} team={team} row={each.id} />}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
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
  <td class="request-cell">
    <Line max={400}>{row.request}</Line>
    <div class="soft small">
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
    </div>
    {graded?.complaints.map((complaint, index) => (
      <div key={index} class="row-problem small">
        <Line max={300}>{complaint}</Line>
      </div>
    ))}
  </td>
);
