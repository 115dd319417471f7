import { nameTeam } from "../model/format";
import type { ListedTeam } from "../model/team";
import { DataTable, type TableColumn } from "../parts/data-table";
import { Section } from "../parts/shell";
import { Line } from "../parts/text";
import { ExamPage } from "./exam-page";
import { ExamsPage } from "./exams-page";
import { useAsked } from "../client/hooks";
import { ProblemLine } from "../client/notice";
import { linkTo } from "./router";
import type { Server } from "../client/server";
import { TeamPage } from "./team-page";
import { loadServedNames, loadTeams } from "./team-server";

/** The teams: their list, one of them, one of its exams, or two. */
export function TeamsPage({ server, rest }: { server: Server; rest: string[] }) {
  const [team, part, first, second] = rest;
  if (team && part === "exams" && first && second) return <ExamsPage key={`${first} ${second}`} server={server} team={team} exams={[first, second]} />;
  if (team && part === "exams" && first) return <ExamPage key={first} server={server} team={team} exam={first} />;
  if (team) return <TeamPage key={team} server={server} name={team} />;
  return <TeamList server={server} />;
}

function TeamList({ server }: { server: Server }) {
  const { answer, problem } = useAsked(() => Promise.all([loadTeams(server), loadServedNames(server)]), [server]);
  const [teams, served] = answer ?? [];
  return (
    <Section id="teams" title="Teams">
      <ProblemLine problem={problem} />
      {!answer && !problem && <p class="soft">loading…</p>}
      {teams && <DataTable name="team-list" label="Teams of the server" columns={listColumns(served)} rows={teams} keyOf={({ name }) => name} />}
    </Section>
  );
}

const listColumns = (served: ReadonlySet<string> | undefined): TableColumn<ListedTeam>[] => [
  {
    title: "Team",
    show: ({ name }) => (
      <>
        <a href={linkTo("teams", name)}><Line max={60}>{nameTeam(name)}</Line></a>
        {!served?.has(name) && <span class="soft small"> not served here</span>}
      </>
    ),
  },
  {
    title: "For",
    kind: "request-cell",
    show: ({ problem, description }) => (problem ? <span class="row-problem">cannot be used: <Line max={300}>{problem}</Line></span> : <Line max={300}>{description}</Line>),
  },
  { title: "Workers", kind: "figure", show: ({ problem, workers }) => (problem ? "–" : workers) },
  { title: "Last exam", kind: "figure", show: ({ score }) => score?.toFixed(1) ?? "–" },
];
