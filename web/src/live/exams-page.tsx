import { useState } from "preact/hooks";
import { formatDifference, pairMetrics, pairRows, type RowPair } from "../model/exam-compare";
import { describeModels, type GradedRow } from "../model/team";
import { DataTable, type TableColumn } from "../parts/data-table";
import { Section } from "../parts/shell";
import { Line } from "../parts/text";
import { formatExamTime } from "./exam-list";
import { Complaints, Score, TeamLink } from "./exam-parts";
import { FigureTable, NAMES } from "./figure-table";
import { useAsked } from "../client/hooks";
import { Missing } from "../client/notice";
import { linkTo } from "./router";
import type { Server } from "../client/server";
import { loadExam } from "./team-server";

interface ExamsPageProps {
  server: Server;
  team: string;
  exams: readonly [string, string];
}

/** Two exams side by side: scores by metric, and the rows that changed. */
export function ExamsPage({ server, team, exams }: ExamsPageProps) {
  const load = () => Promise.all([loadExam(server, team, exams[0]), loadExam(server, team, exams[1])]);
  const { answer, problem } = useAsked(load, [server, team, ...exams]);
  if (!answer) return <Missing problem={problem} href={linkTo("teams")}>All teams</Missing>;
  const pairs = pairRows(...answer);
  return (
    <>
      <TeamLink team={team} />
      <Section id="exams" title="Two exams">
        <div class="side-by-side">
          {answer.map((exam, index) => (
            <article key={index} aria-label={`exam ${NAMES[index]}`}>
              <h3>
                Exam {NAMES[index]}: <a href={linkTo("teams", team, "exams", exams[index]!)}>{formatExamTime(exams[index]!)}</a>
              </h3>
              <p>
                <Line max={100}>{exam.team}</Line> · <Line max={200}>{describeModels(exam.models)}</Line> · {exam.rows.length} rows
              </p>
            </article>
          ))}
        </div>
        <FigureTable name="exam-figures" kind="Exam" figures={pairMetrics(...answer)} />
      </Section>
      <Section id="rows" title="Rows">
        <Rows pairs={pairs} />
      </Section>
    </>
  );
}

/** The rows of both exams; those that are the same are shown on demand. */
function Rows({ pairs }: { pairs: RowPair[] }) {
  const [isWhole, setIsWhole] = useState(false);
  const changed = pairs.filter(({ change }) => change !== "same");
  const shown = isWhole ? pairs : changed;
  return (
    <>
      <p>
        {changed.length ? `${changed.length} of ${pairs.length} rows differ.` : "No row differs."}{" "}
        {changed.length < pairs.length && (
          <label class="small same-rows">
            <input type="checkbox" checked={isWhole} onChange={() => setIsWhole(!isWhole)} /> Show the same rows too
          </label>
        )}
      </p>
      {shown.length > 0 && (
        <DataTable name="row-pairs" label="Rows of both exams" columns={COLUMNS} rows={shown} keyOf={({ id }) => id} />
      )}
    </>
  );
}

const COLUMNS: readonly TableColumn<RowPair>[] = [
  { title: "Row", show: ({ id }) => <Line max={60}>{id}</Line> },
  { title: "Request", kind: "request-cell", show: ({ request }) => <Line max={240}>{request}</Line> },
  ...NAMES.map((name, index) => ({ title: `Exam ${name}`, show: ({ sides }: RowPair) => <Side row={sides[index] ?? null} /> })),
  { title: "Change", kind: "change", show: ({ change, difference }) => [change, " ", difference !== null && change !== "same" && formatDifference(difference)] },
];

const Side = ({ row }: { row: GradedRow | null }) => (
  <>
    <Score value={row?.score ?? null} />
    <Complaints texts={row?.complaints} />
  </>
);
