/** What went wrong with a server, in one line. */

import { dropAsides } from "../model/asides";
import { toLine } from "../model/plain-text";

export type ProblemKind = "unauthorized" | "forbidden" | "unknown" | "refused" | "unreachable" | "unreadable" | "passed";

const NO_ANSWER = "the server does not answer";

/** A failure that can be shown; `unreachable` may pass by itself, and is `passed` then. */
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
  if (typeof status !== "number") return new Problem("unreachable", NO_ANSWER);
  const detail = readDetail(error);
  if (status === 401) return new Problem("unauthorized", "the server asks for a token");
  if (status === 403) return new Problem("forbidden", `not allowed: ${detail || "your token has no right to do that"}`);
  if (status === 404) return new Problem("unknown", "the server has no such run, or does not show it to you");
  if (status === 409) return new Problem("refused", "the run is at work already: another tab or user was first");
  if (status >= 500) return new Problem("unreachable", detail || `the server has failed with status ${status}`);
  return new Problem("refused", detail || `the server refused this with status ${status}`);
}

/** Return the problem of an action with what to do, where it may pass by itself: nothing that was written is lost. */
export const addAdvice = (problem: Problem | null): Problem | null =>
  problem?.kind === "unreachable" ? new Problem(problem.kind, `${problem.message}. What you entered is kept: try again.`) : problem;

/** Return the problem as it is once the server answers again; a failure that it has told itself stays. */
export const endSilence = (problem: Problem | null): Problem | null =>
  problem?.kind === "unreachable" && problem.message.startsWith(NO_ANSWER) ? new Problem("passed", "The server answers again. What you entered is kept: try again.") : problem;

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
