import type { TeamPageContent } from "../model/team";
import { Section } from "../parts/shell";
import { TeamView } from "../parts/team-view";
import { Line } from "../parts/text";
import { ExamList } from "./exam-list";
import { ExamRows } from "./exam-rows";
import { useAsked } from "../client/hooks";
import { Missing, Notice, ProblemLine } from "../client/notice";
import { Problem, readProblem } from "../client/problem";
import { linkTo } from "./router";
import type { Server } from "../client/server";
import { loadExam, loadServedNames, loadTeam } from "./team-server";

interface TeamPageProps {
  server: Server;
  name: string;
}

/** One team: what it is, the rows of its exam, and the exams that were kept. */
export function TeamPage({ server, name }: TeamPageProps) {
  const { answer, problem } = useAsked(() => loadAll(server, name), [server, name]);
  if (!answer) return <Missing problem={problem} href={linkTo("teams")}>All teams</Missing>;
  const { content, last, lastProblem, isServed } = answer;
  return (
    <>
      <p class="no-print team-ways">
        <a href={linkTo("teams")}>All teams</a>
        {isServed && content.team && (
          <a class="button primary" href={linkTo("start", name)}>Start with this team</a>
        )}
      </p>
      {content.team ? (
        <TeamView team={content.team} />
      ) : (
        <>
          <h1><Line max={60}>{name}</Line></h1>
          <ProblemLine problem={new Problem("refused", `the team cannot be used: ${content.problem}`)} />
        </>
      )}
      {!isServed && <Notice>This server does not run the team: a row cannot be started here.</Notice>}
      <Section id="exam" title="How well it works: its exam">
        <ExamFileProblems content={content} />
        {content.exam && content.exam.rows.length > 0 && (
          <ExamRows server={server} team={name} exam={content.exam} last={last} problem={lastProblem} canRun={isServed} />
        )}
      </Section>
      <Section id="exams" title="Results">
        <ExamList team={name} exams={content.exams} />
      </Section>
    </>
  );
}

async function loadAll(server: Server, name: string) {
  const [content, served] = await Promise.all([loadTeam(server, name), loadServedNames(server)]);
  const newest = content.exams.find(({ exam }) => exam && !exam.against);
  const loading = newest ? loadExam(server, name, newest.id) : Promise.resolve(null);
  const [last, lastProblem] = await loading.then(
    (exam) => [exam, null] as const,
    (error: unknown) => [null, readProblem(error)] as const,
  );
  return { content, last, lastProblem, isServed: served.has(name) };
}

function ExamFileProblems({ content: { team, exam } }: { content: TeamPageContent }) {
  if (!exam) return <p class="soft">{team ? "The team has no exam." : "Its exam is not read."}</p>;
  const more = exam.problem_count - exam.problems.length;
  return (
    <>
      {exam.problems.map((problem) => (
        <ProblemLine key={problem} problem={new Problem("refused", problem)} />
      ))}
      {more > 0 && <p class="soft small">and {more} more problems</p>}
    </>
  );
}
