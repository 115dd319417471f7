import { describeModels, type GradedRow } from "../model/team";
import { Score } from "../parts/score";
import { Section } from "../parts/shell";
import { Line, Text } from "../parts/text";
import { formatExamTime } from "./exam-list";
import { useAsked } from "../client/hooks";
import { ProblemLine } from "../client/notice";
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
  if (!exam) return problem ? <ProblemLine problem={problem} /> : <p class="soft">loading…</p>;
  return (
    <>
      <p class="no-print">
        <a href={linkTo("teams", team)}>
          Team <Line max={60}>{team}</Line>
        </a>
      </p>
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
        <div class="table-scroll" tabIndex={0} role="region" aria-label="Rows">
          <table class="exam-rows">
            <thead>
              <tr>
                <th scope="col">Row</th>
                <th scope="col">Request, and what was found</th>
                <th scope="col" class="figure">
                  Score
                </th>
              </tr>
            </thead>
            <tbody>
              {exam.rows.map((row) => (
                <GradedLine key={row.id} row={row} />
              ))}
            </tbody>
          </table>
        </div>
      </Section>
    </>
  );
}

const GradedLine = ({ row }: { row: GradedRow }) => (
  <tr>
    <th scope="row">
      <Line max={60}>{row.id}</Line>
    </th>
    <td class="request-cell">
      <Line max={400}>{row.request}</Line>
      <div class="soft small">
        {row.status || "only planned"}
        {Object.entries(row.scores).map(([name, value]) => ` · ${name.replaceAll("_", " ")} ${value}`)}
      </div>
      {[...row.complaints, ...(row.error ? [row.error] : [])].map((complaint, index) => (
        <div key={index} class="row-problem small">
          <Line max={300}>{complaint}</Line>
        </div>
      ))}
      {row.answer && (
        <details>
          <summary class="small">Answer</summary>
          <pre>
            <Text>{row.answer}</Text>
          </pre>
        </details>
      )}
    </td>
    <td class="figure">
      <Score value={row.score} />
    </td>
  </tr>
);
