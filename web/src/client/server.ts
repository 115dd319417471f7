/** The server that has served this page, and the token of whoever opened it. */

import type { Thread } from "@langchain/langgraph-sdk";
import { Client } from "@langchain/langgraph-sdk/client";
import { readStored, store } from "../model/stored";
import { readProblem } from "./problem";

const TOKEN_KEY = "supervise-token";

export interface Server {
  client: Client;
  /** Address of the server, with the prefix below which it is mounted. */
  url: string;
}

/** Return the token of this tab; it is kept nowhere else. */
export const readToken = (): string => readStored("sessionStorage", TOKEN_KEY);
export const keepToken = (token: string): void => store("sessionStorage", TOKEN_KEY, token);

/** Return the header that names the user, as it is now. */
export function buildTokenHeader(): Record<string, string> {
  const token = readToken();
  return token ? { Authorization: `Bearer ${token}` } : {};
}

/** Of the window: the server has answered. */
export const ANSWERED = "supervise-answered";
declare global {
  interface WindowEventMap {
    [ANSWERED]: Event;
  }
}

async function fetchAndTell(...given: Parameters<typeof fetch>): Promise<Response> {
  const answer = await fetch(...given);
  dispatchEvent(new Event(ANSWERED));
  return answer;
}

/** Return the connection to the server of this page; each call is sent with the token of its time. */
export function openServer(): Server {
  const url = new URL("..", location.href.split("#")[0]!).href.replace(/\/$/, "");
  const onRequest = (_: URL, init: RequestInit) => ({ ...init, headers: { ...Object.fromEntries(new Headers(init.headers)), ...buildTokenHeader() } });
  return { client: new Client({ apiUrl: url, apiKey: null, onRequest, callerOptions: { maxRetries: 0, fetch: fetchAndTell } }), url };
}

/** Return what a call returns.
 *
 * @throws Problem: the call has failed.
 */
export async function ask<Answer>(call: () => Promise<Answer>): Promise<Answer> {
  try {
    return await call();
  } catch (error) {
    throw readProblem(error);
  }
}

/** Return what the server makes of a text: of Markdown a Word document, of a trace its report, of files why each will not be read.
 *
 * @throws Problem: the server makes none of it.
 */
export async function makeFile({ url }: Server, name: "answer.docx" | "report.html" | "unread", text: string): Promise<Blob> {
  const answer = await ask(() => fetch(`${url}/supervise/${name}`, { method: "POST", body: text, headers: buildTokenHeader() }));
  if (!answer.ok) throw readProblem({ status: answer.status, text: await answer.text() });
  return answer.blob();
}

/** Return whether the server works on as many runs as it can; Aegra does not tell. */
export async function isServerFull({ url }: Server): Promise<boolean> {
  const answer = await fetch(`${url}/metrics?format=json`, { headers: buildTokenHeader() });
  const { workers } = (await answer.json()) as { workers?: { available?: number } };
  return workers?.available === 0;
}

/** Of a thread's metadata: the title that a user gave it. */
export const TITLE = "supervise_title";
export const readTitle = ({ metadata }: { metadata?: Record<string, unknown> | null }): string => String(metadata?.[TITLE] ?? "");

/** Return a thread of the server.
 *
 * @throws Problem: kind `unknown` where there is none, also for an id that the server never gives.
 */
export async function loadThread({ client }: Pick<Server, "client">, thread: string): Promise<Thread> {
  try {
    return await client.threads.get(thread);
  } catch (error) {
    const isForeignId = (error as { status?: number }).status === 422;
    throw readProblem(isForeignId ? { status: 404 } : error);
  }
}
