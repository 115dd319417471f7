import { describeModels, type GradedRow } from "../model/team";
import { DataTable } from "../parts/data-table";
import { Section } from "../parts/shell";
import { Line, Text } from "../parts/text";
import { formatExamTime } from "./exam-list";
import { Complaints, Score, TeamLink } from "./exam-parts";
import { useAsked } from "../client/hooks";
import { Missing } from "../client/notice";
import { linkTo } from "./router";
import type { Server } from "../client/server";
import { loadExam } from "./team-server";

interface ExamPageProps {
  server: Server;
  team: string;
  exam: string;
}

/** One exam with its rows: scores by metric, what was missing, the answers. */
export function ExamPage({ server, team, exam: id }: ExamPageProps) {
  const { answer: exam, problem } = useAsked(() => loadExam(server, team, id), [server, team, id]);
  if (!exam) return <Missing problem={problem} href={linkTo("teams")}>All teams</Missing>;
  return (
    <>
      <TeamLink team={team} />
      <Section id="exam" title={`Exam of ${formatExamTime(id)}`}>
        <p>
          <strong>{exam.score.toFixed(1)}</strong> <Line max={200}>{exam.team}</Line> · <Line max={200}>{describeModels(exam.models)}</Line>
        </p>
        <p class="soft small">{Object.entries(exam.metrics).map(([name, value]) => `${name.replaceAll("_", " ")} ${value.toFixed(1)}`).join(" · ")}</p>
        {Object.entries(exam.left_out).map(([name, why]) => (
          <p key={name} class="soft small">
            not measured: {name}: <Line max={300}>{why}</Line>
          </p>
        ))}
      </Section>
      <Section id="rows" title={`Rows (${exam.rows.length})`}>
        <DataTable
          name="exam-rows"
          label="Rows"
          columns={[
            { title: "Row", show: ({ id }) => <Line max={60}>{id}</Line> },
            { title: "Request, and what was found", kind: "request-cell", show: (row) => <Graded row={row} /> },
            { title: "Score", kind: "figure", show: ({ score }) => <Score value={score} /> },
          ]}
          rows={exam.rows}
          keyOf={({ id }) => id}
        />
      </Section>
    </>
  );
}

const Graded = ({ row }: { row: GradedRow }) => (
  <>
    <Line max={400}>{row.request}</Line>
    <div class="soft small">
      {row.status || "only planned"}
      {Object.entries(row.scores).map(([name, value]) => ` · ${name.replaceAll("_", " ")} ${value}`)}
    </div>
    <Complaints texts={[...row.complaints, row.error].filter(Boolean)} />
    {row.answer && (
      <details>
        <summary class="small">Answer</summary>
        <pre><Text>{row.answer}</Text></pre>
      </details>
    )}
  </>
);
