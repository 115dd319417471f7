/** What went wrong with a server, in one line. */

import { dropAsides } from "../model/asides";
import { toLine } from "../model/plain-text";

export type ProblemKind = "unauthorized" | "forbidden" | "unknown" | "refused" | "unreachable" | "unreadable";

/** A failure that can be shown; `unreachable` may pass by itself. */
export class Problem extends Error {
  constructor(
    readonly kind: ProblemKind,
    message: string,
  ) {
    super(message);
  }
}

const MAX_DETAIL_CHARS = 400;

/** Return the problem of a failed call. */
export function readProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const status = (error as { status?: number } | null)?.status;
  if (error instanceof SyntaxError) return new Problem("unreadable", "the server's answer cannot be read");
  if (typeof status !== "number") return new Problem("unreachable", "the server does not answer");
  const detail = readDetail(error);
  if (status === 401) return new Problem("unauthorized", "the server asks for a token");
  if (status === 403) return new Problem("forbidden", `not allowed: ${detail || "your token has no right to do that"}`);
  if (status === 404) return new Problem("unknown", "the server has no such run, or does not show it to you");
  if (status === 409) return new Problem("refused", "the run is at work already: another tab or user was first");
  if (status >= 500) return new Problem("unreachable", detail || `the server has failed with status ${status}`);
  return new Problem("refused", detail || `the server refused this with status ${status}`);
}

/** Return what the server said, which is in the text that the SDK puts after the status. */
function readDetail(error: unknown): string {
  const text = (error as { text?: string; message?: string }).text ?? (error as Error).message ?? "";
  try {
    const answer = JSON.parse(text.slice(text.indexOf("{"))) as { detail?: unknown; message?: unknown };
    const all = answer.detail ?? answer.message;
    const said = Array.isArray(all) ? ((all[0] as { msg?: unknown } | undefined)?.msg ?? all) : all;
    return toLine(dropAsides(typeof said === "string" ? said : JSON.stringify(said ?? "")), MAX_DETAIL_CHARS);
  } catch {
    return toLine(text, MAX_DETAIL_CHARS);
  }
}
