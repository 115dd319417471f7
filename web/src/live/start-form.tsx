import type { Assistant } from "@langchain/langgraph-sdk";
import { useState } from "preact/hooks";
import { Line } from "../parts/text";
import { findFileProblem, readBlock } from "./files";
import { useAction, useAsked } from "./hooks";
import { RUN_OPTIONS } from "./live-run";
import { ProblemLine } from "./notice";
import { Problem } from "./problem";
import { linkTo } from "./router";
import { ask, type Server } from "./server";

const CAPS = [
  { name: "deadline_s", label: "Deadline", unit: "seconds", min: 0, step: "any" },
  { name: "max_cost_usd", label: "Cost", unit: "US dollars", min: 0, step: "any" },
  { name: "max_tokens", label: "Tokens", unit: "in and out", min: 0, step: "1" },
  { name: "max_tasks", label: "Tasks", unit: "of a plan", min: 1, step: "1" },
  { name: "max_attempts", label: "Attempts", unit: "at one task", min: 1, step: "1" },
  { name: "max_concurrency", label: "Model calls", unit: "at the same time", min: 1, step: "1" },
] as const;
const SWITCHES = [
  { name: "approve_plan", label: "Show me the plan before it runs" },
  { name: "ask_human", label: "Ask me when a task fails or is unclear" },
  { name: "sequential", label: "Run one task at a time" },
] as const;

type Context = Record<string, number | boolean>;

/** Return the context of a run: what the form's fields say, without those that are empty. */
export function readContext(form: FormData): Context {
  const caps = CAPS.flatMap(({ name }) => {
    const value = String(form.get(name) ?? "").trim();
    return value === "" ? [] : [[name, Number(value)] as const];
  });
  const switches = SWITCHES.filter(({ name }) => form.get(name)).map(({ name }) => [name, true] as const);
  return Object.fromEntries<number | boolean>([...caps, ...switches]);
}

interface StartedRun {
  team: string;
  request: string;
  files: File[];
  context: Context;
}

/** Start a run on a new thread, and return the thread.
 *
 * @throws Problem: a file cannot be read, or the server refuses the run.
 */
async function startRun({ client }: Server, { team, request, files, context }: StartedRun): Promise<string> {
  const blocks = await Promise.all(files.map(readBlock)).catch(() => {
    throw new Problem("refused", "a file cannot be read: was it moved or changed?");
  });
  const content = blocks.length ? [{ type: "text", text: request }, ...blocks] : request;
  const { thread_id } = await ask(() => client.threads.create());
  const input = blocks.length ? { messages: [{ role: "user", content }] } : { request };
  await ask(() => client.runs.create(thread_id, team, { ...RUN_OPTIONS, input, context }));
  return thread_id;
}

const PAGE = 100;
const MAX_ASSISTANTS = 1000;

async function listAssistants({ client }: Server): Promise<Assistant[]> {
  const found: Assistant[] = [];
  while (found.length % PAGE === 0 && found.length < MAX_ASSISTANTS) {
    const page = await ask(() => client.assistants.search({ limit: PAGE, offset: found.length }));
    if (!page.length) break;
    found.push(...page);
  }
  return found;
}

/** The names of the server's teams, with what they are for. */
export const useTeams = (server: Server) =>
  useAsked(async () => {
    const found = await listAssistants(server);
    const teams = new Map(found.map((each) => [each.graph_id, each.description ?? ""] as const));
    return [...teams].map(([name, description]) => ({ name, description })).sort((a, b) => a.name.localeCompare(b.name));
  }, [server]);

const DEFAULT_TEAM = "market_analysis";

/** Starts a run: team, request, files, limits. */
export function StartForm({ server }: { server: Server }) {
  const teams = useTeams(server);
  const [chosen, setChosen] = useState("");
  const [request, setRequest] = useState("");
  const [files, setFiles] = useState<File[]>([]);
  const [context, setContext] = useState<Context>({});
  const names = teams.answer ?? [];
  const team = chosen || (names.find(({ name }) => name === DEFAULT_TEAM) ?? names[0])?.name || "";
  const fileProblem = findFileProblem(files);
  const action = useAction(async () => {
    const thread = await startRun(server, { team, request: request.trim(), files, context });
    location.hash = linkTo("runs", thread);
  });
  const submit = (event: Event) => {
    event.preventDefault();
    if (request.trim() && team && !fileProblem) action.start();
  };
  const readForm = (event: { currentTarget: HTMLFormElement }) => setContext(readContext(new FormData(event.currentTarget)));
  return (
    <form class="start-form" onSubmit={submit} onInput={readForm} onChange={readForm}>
      <label for="request">Request</label>
      <textarea
        id="request"
        rows={3}
        required
        maxLength={100_000}
        value={request}
        onInput={(event) => setRequest(event.currentTarget.value)}
        onKeyDown={(event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && submit(event)}
      />
      <div class="start-row">
        <div>
          <label for="team">Team</label>
          <select id="team" value={team} onChange={(event) => setChosen(event.currentTarget.value)}>
            {names.map(({ name }) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </div>
        <div>
          <label for="files">Files</label>
          <input id="files" type="file" multiple onChange={(event) => setFiles([...(event.currentTarget.files ?? [])])} />
        </div>
        <button class="primary" type="submit" disabled={action.isBusy || !team || !request.trim() || Boolean(fileProblem)}>
          {action.isBusy ? "Starting…" : "Start"}
        </button>
      </div>
      <p class="soft small">
        <Line max={300}>{names.find(({ name }) => name === team)?.description}</Line>
      </p>
      <details>
        <summary>Limits, and what to ask me</summary>
        <div class="caps">
          {CAPS.map(({ name, label, unit, min, step }) => (
            <label key={name}>
              {label} <span class="soft small">{unit}</span>
              <input name={name} type="number" inputmode="decimal" min={min} step={step} placeholder="as set" />
            </label>
          ))}
        </div>
        {SWITCHES.map(({ name, label }) => (
          <label key={name} class="switch">
            <input name={name} type="checkbox" /> {label}
          </label>
        ))}
      </details>
      {fileProblem && <ProblemLine problem={new Problem("refused", fileProblem)} />}
      <ProblemLine problem={action.problem ?? teams.problem} />
    </form>
  );
}
