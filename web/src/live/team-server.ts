/** Asks the server for its teams, and starts rows of their exams. */

import type { Exam, ListedTeam, TeamPageContent } from "../model/team";
import { RUN_OPTIONS } from "./live-run";
import { Problem, readProblem } from "./problem";
import { ask, readToken, type Server } from "./server";
import { listAssistants } from "./start-form";

interface RowInput {
  request: string;
  materials: Record<string, string>;
}

export const loadTeams = (server: Server) => load<ListedTeam[]>(server);
export const loadTeam = (server: Server, team: string) => load<TeamPageContent>(server, team);
export const loadExam = (server: Server, team: string, exam: string) => load<Exam>(server, team, "exams", exam);

/** Return the names of the teams that the server runs.
 *
 * @throws Problem: it does not tell.
 */
export async function loadServedNames(server: Server): Promise<Set<string>> {
  return new Set((await listAssistants(server)).map(({ graph_id }) => graph_id));
}

/** Start a run with a row's request and files on a new thread, and return the thread.
 *
 * @throws Problem: a file cannot be read, or the server refuses the run.
 */
export async function startRow(server: Server, team: string, row: string): Promise<string> {
  const input = { ...(await load<RowInput>(server, team, "rows", row)) };
  const { client } = server;
  const { thread_id } = await ask(() => client.threads.create());
  await ask(() => client.runs.create(thread_id, team, { ...RUN_OPTIONS, input }));
  return thread_id;
}

async function load<Answer>(server: Server, ...parts: string[]): Promise<Answer> {
  const path = ["teams", ...parts].map(encodeURIComponent).join("/");
  const token = readToken();
  const headers: HeadersInit = token ? { Authorization: `Bearer ${token}` } : {};
  const answer = await fetch(`${server.url}/supervise/${path}`, { headers }).catch((error: unknown) => {
    throw readProblem(error);
  });
  if (answer.ok) return (await answer.json().catch((error: unknown) => Promise.reject(readProblem(error)))) as Answer;
  const text = await answer.text().catch(() => "");
  const problem = readProblem({ status: answer.status, text });
  throw problem.kind === "unknown" ? new Problem("unknown", readDetail(text)) : problem;
}

function readDetail(text: string): string {
  try {
    return String((JSON.parse(text) as { detail?: unknown }).detail ?? "");
  } catch {
    return "the server has no page of teams";
  }
}
