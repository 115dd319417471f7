/** The server that has served this page, and the token of whoever opened it. */

import { Client } from "@langchain/langgraph-sdk/client";
import { readProblem } from "./problem";

const TOKEN_KEY = "supervise-token";

export interface Server {
  client: Client;
  /** Address of the server, with the prefix below which it is mounted. */
  url: string;
}

/** Return the token of this tab; it is kept nowhere else. */
export function readToken(): string {
  try {
    return sessionStorage.getItem(TOKEN_KEY) ?? "";
  } catch {
    return "";
  }
}

export function keepToken(token: string): void {
  try {
    if (token) sessionStorage.setItem(TOKEN_KEY, token);
    else sessionStorage.removeItem(TOKEN_KEY);
  } catch {
    // A browser that keeps nothing asks again after a reload.
  }
}

/** Return the connection to the server of this page. */
export function openServer(token: string): Server {
  const url = new URL("..", location.href.split("#")[0]!).href.replace(/\/$/, "");
  const defaultHeaders = token ? { Authorization: `Bearer ${token}` } : {};
  const client = new Client({ apiUrl: url, apiKey: null, defaultHeaders, callerOptions: { maxRetries: 0 } });
  return { client, url };
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
