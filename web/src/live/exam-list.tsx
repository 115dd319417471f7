import { useState } from "preact/hooks";
import { formatCount, formatSeconds, formatUsd } from "../model/format";
import { describeModels, readExamTime, type ListedExam } from "../model/team";
import { Line } from "../parts/text";
import { linkTo } from "./router";

/** Exams that were kept, the newest first; two of them can be compared. */
export function ExamList({ team, exams }: { team: string; exams: ListedExam[] }) {
  const [chosen, setChosen] = useState<string[]>([]);
  if (!exams.length) return <p class="soft">No exam was sat yet.</p>;
  const choose = (id: string) =>
    setChosen((before) => (before.includes(id) ? before.filter((each) => each !== id) : [...before, id].slice(-2)));
  // The older one is A, whichever was selected first.
  const [first, second] = [...chosen].sort();
  return (
    <>
      <p>
        {first && second ? (
          <a class="button" href={linkTo("teams", team, "exams", first, second)}>
            Compare the two
          </a>
        ) : (
          <span class="soft small">Select two exams to compare them.</span>
        )}
      </p>
      <div class="table-scroll" tabIndex={0} role="region" aria-label="Exams, newest first">
        <table class="exam-list">
          <thead>
            <tr>
              <th scope="col">
                <span class="visually-hidden">Compare</span>
              </th>
              <th scope="col">Sat</th>
              <th scope="col" class="figure">
                Score
              </th>
              <th scope="col" class="figure">
                Rows
              </th>
              <th scope="col">Models</th>
              <th scope="col" class="figure">
                Calls
              </th>
              <th scope="col" class="figure">
                Cost
              </th>
              <th scope="col" class="figure">
                Time
              </th>
            </tr>
          </thead>
          <tbody>
            {exams.map((each) => (
              <ExamLine key={each.id} team={team} listed={each} isChosen={chosen.includes(each.id)} onChoose={() => choose(each.id)} />
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

interface ExamLineProps {
  team: string;
  listed: ListedExam;
  isChosen: boolean;
  onChoose: () => void;
}

function ExamLine({ team, listed: { id, exam, rows, problem }, isChosen, onChoose }: ExamLineProps) {
  if (!exam) {
    return (
      <tr>
        <td />
        <td class="figure">{formatExamTime(id)}</td>
        <td colSpan={6} class="row-problem">
          <Line max={300}>{problem}</Line>
        </td>
      </tr>
    );
  }
  const isMissed = exam.threshold !== null && exam.score < exam.threshold;
  return (
    <tr>
      <td>
        <input type="checkbox" checked={isChosen} onChange={onChoose} aria-label={`compare the exam of ${formatExamTime(id)}`} />
      </td>
      <td class="figure">
        <a href={linkTo("teams", team, "exams", id)}>{formatExamTime(id)}</a>
      </td>
      <td class="figure">
        {exam.score.toFixed(1)} {isMissed && <span class="row-problem small">below {exam.threshold}</span>}
      </td>
      <td class="figure">{formatCount(rows)}</td>
      <td>
        <Line max={120}>{describeModels(exam.models)}</Line>
        {exam.against && (
          <span class="soft small">
            {" "}
            against: <Line max={80}>{exam.against}</Line>
          </span>
        )}
      </td>
      <td class="figure">{formatCount(exam.calls)}</td>
      <td class="figure">{formatUsd(exam.cost_usd)}</td>
      <td class="figure">{formatSeconds(exam.seconds)}</td>
    </tr>
  );
}

/** Return when an exam was sat, in the viewer's time zone. */
export function formatExamTime(id: string): string {
  return readExamTime(id)?.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "medium" }) ?? "–";
}
