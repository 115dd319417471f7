import { useState } from "preact/hooks";
import { useAction } from "../client/hooks";
import { ProblemLine } from "../client/notice";
import type { Server } from "../client/server";
import { reader } from "../model/asides";
import { nameTeam } from "../model/format";
import type { ListedTeam } from "../model/team";
import { Line } from "../parts/text";
import { linkTo } from "./router";
import { loadRow, type RowInput } from "./team-server";

/** The others are a press away. */
const SHOWN = innerWidth < 640 ? 2 : 4;

interface TeamCardsProps {
  server: Server;
  teams: readonly ListedTeam[];
  team: string;
  onTeam: (name: string) => void;
  onExample: (example: RowInput) => void;
}

/** The teams to choose from: what each is for, with a real request that can be put into the form. */
export function TeamCards({ server, teams, team, onTeam, onExample }: TeamCardsProps) {
  const [showsAll, setShowsAll] = useState(false);
  const action = useAction(async (name: string, row: string) => {
    onTeam(name);
    onExample(await loadRow(server, name, row));
  });
  const shown = showsAll ? teams : teams.filter(({ name }, index) => index < SHOWN || name === team);
  return (
    <fieldset class="team-cards">
      <legend>Who works on it</legend>
      <div class="cards">
        {shown.map(({ name, description, example }) => (
          <div key={name} class="team-card box">
            <label>
              <input type="radio" name="team" value={name} checked={name === team} onChange={() => onTeam(name)} />
              <strong><Line max={60}>{nameTeam(name)}</Line></strong>
              <span class="soft small"><Line max={200}>{description}</Line></span>
            </label>
            {example && (
              <button type="button" class="plain example-of-team small" disabled={action.isBusy} title="Put it into the form, with its files" onClick={() => action.start(name, example.id)}>
                Fill in an example: “<Line max={110}>{example.request}</Line>”
              </button>
            )}
          </div>
        ))}
      </div>
      <p>
        {shown.length < teams.length && (
          <button type="button" onClick={() => setShowsAll(true)}>
            Show all {teams.length} teams
          </button>
        )}{" "}
        {team && <a href={linkTo("teams", team)}>More of {nameTeam(team)}: its workers, tools and examples</a>}
      </p>
      <ProblemLine problem={action.problem} />
    </fieldset>
  );
}

const EMBEDDED = "embedded";

/** Which model works; where none is set, what that means and how to set one. */
export function ModelStatus({ models }: { models: Record<string, string> }) {
  const names = [...new Set(Object.values(models))];
  if (!names.length) return null;
  if (names.some((name) => name !== EMBEDDED)) {
    return (
      <p class="soft small">
        Works with <Line max={160}>{names.map((name) => (name === EMBEDDED ? "the built-in model" : name)).join(", ")}</Line>
      </p>
    );
  }
  return (
    <details class="notice model-status">
      <summary>
        <strong>No language model is set up.</strong> You get sentences and figures from your files; nobody reads or judges them.
      </summary>
      {reader.ownsServer ? (
        <>
          <p>To set one, end the server, and start it again with one of these in its environment:</p>
          <ul>
            <li>
              <code>OPENAI_API_KEY=…</code> for OpenAI
            </li>
            <li>
              <code>OPENAI_BASE_URL=http://127.0.0.1:8080/v1</code> for a server of your own, such as llama.cpp or Ollama
            </li>
            <li>
              <code>SUPERVISE_MODEL_STANDARD=provider:model</code> for others, also <code>…_FAST</code> and <code>…_STRONG</code>
            </li>
          </ul>
        </>
      ) : (
        <p>Whoever runs the server can set one.</p>
      )}
    </details>
  );
}
