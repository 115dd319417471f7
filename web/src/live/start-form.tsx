import { useState, useEffect } from "preact/hooks";
import { useAsked } from "../client/hooks";
import { useKept } from "../client/kept";
import { startRun } from "../client/live-run";
import type { Server } from "../client/server";
import type { ListedTeam } from "../model/team";
import { RequestForm } from "./request-form";
import { linkTo } from "./router";
import { ModelStatus, TeamCards } from "./team-cards";
import { listAssistants, loadTeams, type RowInput } from "./team-server";
import { Section } from "../parts/shell";
import { RunTable } from "./run-table";

const DEFAULT_TEAM = "market_analysis";

/** The teams that the server runs, the default one first; what they are for is known of those with a name. */
const useTeams = (server: Server) =>
  useAsked(async (): Promise<ListedTeam[]> => {
    const [found, listed] = await Promise.all([listAssistants(server), loadTeams(server).catch(() => [])]);
    const named = new Map(listed.map((team) => [team.name, team]));
    const served = new Map(found.map((each) => [each.graph_id, each.description ?? ""] as const));
    return [...served]
      .map(([name, description]) => named.get(name) ?? { name, description, workers: 0, score: null, problem: "" })
      .sort((a, b) => Number(b.name === DEFAULT_TEAM) - Number(a.name === DEFAULT_TEAM) || a.name.localeCompare(b.name));
  }, [server]);

/** Starts a run on a new thread, and shows it. */
function StartForm({ server, first = "", teams: { answer: teams, problem } }: { server: Server; first?: string | undefined; teams: ReturnType<typeof useTeams> }) {
  const [kept, keepTeam] = useKept("start team", "");
  const [asked, setAsked] = useState(first);
  const chosen = asked || kept;
  const [example, setExample] = useState<RowInput | null>(null);
  const team = (teams?.find(({ name }) => name === chosen) ?? teams?.[0])?.name ?? "";
  return (
    <RequestForm
      server={server}
      place="start"
      label="What should the team find out or write?"
      words={["Start", "Starting…"]}
      isReady={team !== ""}
      example={example}
      problem={problem}
      send={async (written) => {
        location.hash = linkTo("runs", await startRun(server, team, written));
      }}
    >
      {teams && <ModelStatus models={teams.find(({ name }) => name === team)?.models ?? {}} />}
      {teams ? <TeamCards server={server} teams={teams} team={team} onTeam={(name) => (setAsked(""), keepTeam(name))} onExample={setExample} /> : !problem && <p class="skeleton soft">Loading the teams…</p>}
    </RequestForm>
  );
}

/** Where a run is started, and earlier ones are found. */
export function HomePage({ server, route }: { server: Server; route: string[] }) {
  const [part, team] = route;
  const teams = useTeams(server);
  const isReady = Boolean(teams.answer || teams.problem);
  useEffect(() => {
    const list = document.getElementById("runs-title");
    if (part !== "runs" || !list) return;
    list.scrollIntoView();
    list.tabIndex = -1;
    list.focus({ preventScroll: true });
  }, [route, isReady]);
  return (
    <>
      <Section id="start" title="Start a run">
        <StartForm key={team} server={server} first={team} teams={teams} />
      </Section>
      {/* The cards of the teams would push it down under a pointer. */}
      <div hidden={!isReady}>
        <Section id="runs" title="Runs">
          <RunTable server={server} />
        </Section>
      </div>
    </>
  );
}
