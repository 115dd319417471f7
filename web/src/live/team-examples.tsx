import { pickExamples } from "../model/team";
import { Line } from "../parts/text";
import { useAction, useAsked } from "../client/hooks";
import { ProblemLine } from "../client/notice";
import { linkTo } from "./router";
import type { Server } from "../client/server";
import { loadRow, loadTeam, type RowInput } from "./team-server";

const SHOWN = 3;

interface TeamExamplesProps {
  server: Server;
  team: string;
  onPick: (example: RowInput) => void;
}

/** Requests of a team's exam that come with files, each put into the form by a press; nothing where there are none. */
export function TeamExamples({ server, team, onPick }: TeamExamplesProps) {
  const { answer } = useAsked(() => loadTeam(server, team).catch(() => null), [server, team]);
  const action = useAction(async (row: string) => {
    onPick(await loadRow(server, team, row));
  });
  const rows = pickExamples(answer?.exam?.rows ?? [], SHOWN);
  if (!rows.length) return null;
  return (
    <div class="team-examples">
      <p class="soft small" id="examples-of-team">
        Or fill in an example with its files (<a href={linkTo("teams", team)}>all of this team</a>):
      </p>
      <ul aria-labelledby="examples-of-team">
        {rows.map(({ id, request }) => (
          <li key={id}>
            <button type="button" disabled={action.isBusy} onClick={() => action.start(id)}>
              <Line max={120}>{request}</Line>
            </button>
          </li>
        ))}
      </ul>
      <ProblemLine problem={action.problem} />
    </div>
  );
}
