/** Asks the server for its teams, and starts rows of their exams. */

import type { Assistant } from "@langchain/langgraph-sdk";
import type { Exam, ListedTeam, TeamPageContent } from "../model/team";
import { startOnThread } from "../client/live-run";
import { Problem, readProblem } from "../client/problem";
import { ask, buildTokenHeader, type Server } from "../client/server";

/** A request with the texts of its files, by their names. */
export interface RowInput {
  request: string;
  materials: Record<string, string>;
}

export const loadTeams = (server: Server) => load<ListedTeam[]>(server);
export const loadTeam = (server: Server, team: string) => load<TeamPageContent>(server, team);
export const loadExam = (server: Server, team: string, exam: string) => load<Exam>(server, team, "exams", exam);

const PAGE = 100;
const MAX_ASSISTANTS = 1000;

/** Return the assistants of the server: each team, and those that users have made of one.
 *
 * @throws Problem: it does not tell.
 */
export async function listAssistants({ client }: Server): Promise<Assistant[]> {
  const found: Assistant[] = [];
  while (found.length % PAGE === 0 && found.length < MAX_ASSISTANTS) {
    const page = await ask(() => client.assistants.search({ limit: PAGE, offset: found.length }));
    if (!page.length) break;
    found.push(...page);
  }
  return found;
}

/** Return the names of the teams that the server runs.
 *
 * @throws Problem: it does not tell.
 */
export async function loadServedNames(server: Server): Promise<Set<string>> {
  return new Set((await listAssistants(server)).map(({ graph_id }) => graph_id));
}

/** Return a row's request and files.
 *
 * @throws Problem: a file cannot be read.
 */
export const loadRow = (server: Server, team: string, row: string) => load<RowInput>(server, team, "rows", row);

/** Start a run with a row's request and files on a new thread, and return the thread.
 *
 * @throws Problem: a file cannot be read, or the server refuses the run.
 */
export async function startRow(server: Server, team: string, row: string): Promise<string> {
  const input = { ...(await loadRow(server, team, row)) };
  return startOnThread(server, team, { input });
}

async function load<Answer>(server: Server, ...parts: string[]): Promise<Answer> {
  const path = ["teams", ...parts].map(encodeURIComponent).join("/");
  const answer = await fetch(`${server.url}/supervise/${path}`, { headers: buildTokenHeader() }).catch((error: unknown) => {
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
