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
      {teams && (
        <div class="table-scroll" tabIndex={0} role="region" aria-label="Teams of the server">
          <table class="team-list">
            <thead>
              <tr>
                <th scope="col">Team</th>
                <th scope="col">For</th>
                <th scope="col" class="figure">
                  Workers
                </th>
                <th scope="col" class="figure">
                  Last exam
                </th>
              </tr>
            </thead>
            <tbody>
              {teams.map((team) => (
                <tr key={team.name}>
                  <th scope="row">
                    <a href={linkTo("teams", team.name)}>
                      <Line max={60}>{team.name}</Line>
                    </a>
                    {!served?.has(team.name) && <span class="soft small"> not served here</span>}
                  </th>
                  <td class="request-cell">
                    {team.problem ? (
                      <span class="row-problem">
                        cannot be used: <Line max={300}>{team.problem}</Line>
                      </span>
                    ) : (
                      <Line max={300}>{team.description}</Line>
                    )}
                  </td>
                  <td class="figure">{team.problem ? "–" : team.workers}</td>
                  <td class="figure">{team.score === null ? "–" : team.score.toFixed(1)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Section>
  );
}
