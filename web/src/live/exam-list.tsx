import { formatCount, formatSeconds, formatUsd } from "../model/format";
import { describeModels, readExamTime, type ListedExam } from "../model/team";
import { Line } from "../parts/text";
import type { TableColumn } from "../parts/data-table";
import { ChoiceTable } from "./choice-table";
import { linkTo } from "./router";

/** Exams that were kept, the newest first; two of them can be compared. */
export function ExamList({ team, exams }: { team: string; exams: ListedExam[] }) {
  if (!exams.length) return <p class="soft">No results yet.</p>;
  const date: TableColumn<ListedExam> = {
    title: "Date",
    kind: "figure",
    show: ({ id, exam }) => (exam ? <a href={linkTo("teams", team, "exams", id)}>{formatExamTime(id)}</a> : formatExamTime(id)),
  };
  return (
    <ChoiceTable
      name="exam-list"
      kind="exams"
      rows={exams}
      columns={[date, ...COLUMNS]}
      keyOf={({ id }) => id}
      labelOf={({ id }) => `compare the exam of ${formatExamTime(id)}`}
      problemOf={({ exam, problem }) => !exam && <Line max={300}>{problem}</Line>}
      compare={(older, newer) => linkTo("teams", team, "exams", older, newer)}
    />
  );
}

const COLUMNS: readonly TableColumn<ListedExam>[] = [
  { title: "Score", kind: "figure", show: ({ exam }) => exam && <ExamScore exam={exam} /> },
  { title: "Rows", kind: "figure", show: ({ rows }) => formatCount(rows) },
  { title: "Models", show: ({ exam }) => exam && <ExamModels exam={exam} /> },
  { title: "Calls", kind: "figure", show: ({ exam }) => exam && formatCount(exam.calls) },
  { title: "Cost", kind: "figure", show: ({ exam }) => exam && formatUsd(exam.cost_usd) },
  { title: "Time", kind: "figure", show: ({ exam }) => exam && formatSeconds(exam.seconds) },
];

type ListedScores = NonNullable<ListedExam["exam"]>;

const ExamScore = ({ exam: { score, threshold } }: { exam: ListedScores }) => (
  <>
    {score.toFixed(1)} {threshold !== null && score < threshold && <span class="row-problem small">below {threshold}</span>}
  </>
);

const ExamModels = ({ exam: { models, against } }: { exam: ListedScores }) => (
  <>
    <Line max={120}>{describeModels(models)}</Line>
    {against && (
      <span class="soft small">
        {" "}
        against: <Line max={80}>{against}</Line>
      </span>
    )}
  </>
);

/** Return when an exam was run, in the viewer's time zone. */
export function formatExamTime(id: string): string {
  return readExamTime(id)?.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "medium" }) ?? "–";
}
