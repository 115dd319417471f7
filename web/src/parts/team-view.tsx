import { countOf, formatCount, formatSeconds, nameTeam } from "../model/format";
import type { Team, TeamExample, TeamServer, TeamTool, TeamWorker } from "../model/team";
import { AccessLabels } from "./access-labels";
import { Section } from "./shell";
import { Line, Text } from "./text";

/** What a team is: its workers and their tools, its servers, its examples. */
export const TeamView = ({ team }: { team: Team }) => (
  <>
    <TeamHead team={team} />
    <Section id="workers" title="Who works in it">
      <div class="worker-cards">
        {team.workers.map((worker) => (
          <WorkerCard key={worker.name} worker={worker} />
        ))}
        {team.recruits && <RecruitCard tools={team.recruits.tools} />}
      </div>
    </Section>
    {team.servers.length > 0 && (
      <Section id="servers" title="MCP servers">
        <Servers servers={team.servers} />
      </Section>
    )}
    {team.examples.length > 0 && (
      <Section id="examples" title="What it is asked for, and by whom it is done">
        {team.examples.map((example, index) => (
          <Example key={index} example={example} />
        ))}
      </Section>
    )}
  </>
);

const TeamHead = ({ team }: { team: Team }) => (
  <Section id="team" title={nameTeam(team.name)}>
    <p><Line max={1000}>{team.description}</Line></p>
    {team.notice && (
      <p class="soft small">
        Every answer ends with: <Line max={500}>{team.notice}</Line>
      </p>
    )}
    {team.warnings.map((warning, index) => (
      <p key={index} class="notice notice-warning">
        <strong>Warning:</strong> <Line max={1000}>{warning}</Line>
      </p>
    ))}
    <details class="words">
      <summary>For those who build teams: limits, and how it plans</summary>
      <p class="soft small">
        {describeLimits(team)} · strategy {team.strategy} · {Object.entries(team.tiers).map(([who, tier]) => `${who}: ${tier}`).join(", ")}
      </p>
      {team.notes.map((note, index) => (
        <p key={index} class="soft small"><Line max={1000}>{note}</Line></p>
      ))}
      <Words title="How the supervisor is to plan" {...team.guidance} />
    </details>
  </Section>
);

function describeLimits({ limits }: Team): string {
  const parts = [`at most ${countOf(limits.tasks, "task")}, ${countOf(limits.attempts, "attempt")} each`];
  if (limits.deadline_s !== null) parts.push(formatSeconds(limits.deadline_s));
  if (limits.cost_usd !== null) parts.push(`${limits.cost_usd} US dollars`);
  if (limits.tokens !== null) parts.push(`${formatCount(limits.tokens)} tokens`);
  return parts.join(", ");
}

const WorkerCard = ({ worker }: { worker: TeamWorker }) => (
  <article class="worker-card box" aria-label={`worker ${worker.name}`}>
    <h3>
      <Line max={60}>{nameTeam(worker.name)}</Line> <span class="tier soft small">{describePlace(worker)}</span>
    </h3>
    <p><Line max={600}>{worker.description}</Line></p>
    {worker.team && (
      <p class="small">
        Workers of this team: <Line max={300}>{worker.team.workers.join(", ")}</Line>
      </p>
    )}
    {worker.remote && (
      <p class="small">
        <Line max={300}>{worker.remote}</Line> {worker.remote_access && <AccessLabels {...worker.remote_access} />}
      </p>
    )}
    {!worker.team && !worker.remote && <Tools tools={worker.tools} />}
    <p class="soft small">
      For each attempt at most {countOf(worker.limits.turns, "step")}, {formatSeconds(worker.limits.timeout_s)} and {formatCount(worker.limits.tokens)} <Tokens />
      {worker.tiers.length > 0 && `; may use ${worker.tiers.join(", ")}`}
      {worker.fallback && `; after a failure ${worker.fallback}`}
    </p>
    <Words title="Instructions" {...worker.instructions} />
  </article>
);

/** What a language model counts, with what it is. */
export const Tokens = () => <abbr title="Pieces of words that a language model reads and writes: 100 are about 75 words">tokens</abbr>;

const describePlace = ({ team, remote, tier }: TeamWorker) => (team ? `a team: ${team.name}` : remote ? "on another server" : `${tier} model`);

const RecruitCard = ({ tools }: { tools: TeamTool[] }) => (
  <article class="worker-card box" aria-label="specialists">
    <h3>
      specialists <span class="tier soft small">created for one task</span>
    </h3>
    <p>For tasks that fit no worker. They may be given these tools:</p>
    <Tools tools={tools} />
  </article>
);

const Tools = ({ tools }: { tools: TeamTool[] }) =>
  tools.length ? (
    <ul class="tool-list bare">
      {tools.map((tool) => (
        <li key={tool.name}>
          <code><Line max={120}>{tool.name}</Line></code>{" "}
          <AccessLabels {...tool} />
          <span class="soft small">
            {tool.is_own && " the team's own"}
            {!tool.is_declared && ", which declares no access"}
            {tool.asks && " asks before each call"}
          </span>
        </li>
      ))}
    </ul>
  ) : (
    <p class="soft small">No tools.</p>
  );

const Servers = ({ servers }: { servers: TeamServer[] }) => (
  <ul class="tool-list bare">
    {servers.map((server) => (
      <li key={server.name}>
        <code><Line max={60}>{server.name}</Line></code>{" "}
        {server.transport}: <Line max={120}>{server.place}</Line>
        {server.is_trusted && <span class="soft small"> trusted: its own hints count</span>}
      </li>
    ))}
  </ul>
);

const Example = ({ example }: { example: TeamExample }) => (
  <details class="example">
    <summary><Line max={240}>{example.request}</Line></summary>
    <ol class="example-tasks">
      {example.tasks.map((task) => (
        <li key={task.id}>
          <Line max={60}>{task.id}</Line>{" "}
          <span class="soft small">
            <Line max={60}>{task.worker}</Line>
            {task.needs.length > 0 && (
              <>
                , needs <Line max={200}>{task.needs.join(", ")}</Line>
              </>
            )}
          </span>
        </li>
      ))}
    </ol>
  </details>
);

interface WordsProps {
  title: string;
  text: string;
  chars: number;
}

/** A long text, folded; a cut one with its whole length. */
const Words = ({ title, text, chars }: WordsProps) =>
  text ? (
    <details class="words">
      <summary>
        {title} <span class="soft small">{formatCount(chars)} characters</span>
      </summary>
      <pre><Text>{text}</Text></pre>
      {chars > [...text].length && <p class="soft small">Only the beginning is shown.</p>}
    </details>
  ) : null;
