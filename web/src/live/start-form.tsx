import { useState } from "preact/hooks";
import { nameTeam } from "../model/format";
import { Line } from "../parts/text";
import { useAsked } from "../client/hooks";
import { startRun } from "../client/live-run";
import { RequestForm } from "./request-form";
import { linkTo } from "./router";
import type { Server } from "../client/server";
import { TeamExamples } from "./team-examples";
import { listAssistants, type RowInput } from "./team-server";

/** The names of the server's teams, with what they are for. */
const useTeams = (server: Server) =>
  useAsked(async () => {
    const found = await listAssistants(server);
    const teams = new Map(found.map((each) => [each.graph_id, each.description ?? ""] as const));
    return [...teams].map(([name, description]) => ({ name, description })).sort((a, b) => a.name.localeCompare(b.name));
  }, [server]);

const DEFAULT_TEAM = "market_analysis";

/** Starts a run on a new thread, and shows it. */
export function StartForm({ server }: { server: Server }) {
  const teams = useTeams(server);
  const [chosen, setChosen] = useState("");
  const [example, setExample] = useState<RowInput | null>(null);
  const names = teams.answer ?? [];
  const team = chosen || (names.find(({ name }) => name === DEFAULT_TEAM) ?? names[0])?.name || "";
  return (
    <>
      <RequestForm
        place="start"
        label="What should the team find out or write?"
        words={["Start", "Starting…"]}
        isReady={team !== ""}
        example={example}
        problem={teams.problem}
        send={async (written) => {
          location.hash = linkTo("runs", await startRun(server, team, written));
        }}
      >
        <div>
          <label for="team">Team</label>
          <select id="team" aria-describedby="team-for" value={team} onChange={(event) => setChosen(event.currentTarget.value)}>
            {names.map(({ name }) => (
              <option key={name} value={name}>
                {nameTeam(name)}
              </option>
            ))}
          </select>
        </div>
        <p id="team-for" class="soft small">
          <Line max={300}>{names.find(({ name }) => name === team)?.description}</Line>
        </p>
      </RequestForm>
      {team && <TeamExamples key={team} server={server} team={team} onPick={setExample} />}
    </>
  );
}
