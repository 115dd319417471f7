import { loadSummary } from "../client/kept-trace";
import { createRun, type LiveRun } from "../client/live-run";
import { readProblem } from "../client/problem";
import { ask } from "../client/server";
import { readQuestions } from "../client/question";
import { findAnswered, type Replies } from "../client/replies";

const LOOK_EVERY_MS = 400;
const MAX_LOOKS = 10;
/** What the server says of an answer to a question that is not open, or of a run whose thread another one has taken. */
const LATE = /no open question|not open|no question|was taken by|at work already/i;
/** What Aegra says of a thread with open questions whose last run has failed. */
const NOT_WAITING = /not in interrupted state/i;

/** Send replies to open questions; those that are answered meanwhile stay as they were answered.
 *
 * Returns whether they were taken: false where a question is no longer open.
 *
 * @throws Problem: the server does not take the replies.
 */
export async function sendReplies(run: LiveRun, replies: Replies): Promise<boolean> {
  const { run: view } = await loadSummary(run.server, run.thread);
  if (findAnswered(replies, readQuestions(view?.questions ?? [])).length) {
    run.refresh();
    return false;
  }
  try {
    return await isAccepted(run, await createAnswer(run, replies));
  } catch (error) {
    if (!LATE.test(readProblem(error).message)) throw error;
    return false;
  } finally {
    run.refresh();
  }
}

/** Start the run that answers, and return its id; a thread that the server does not let resume is answered in its chat. */
async function createAnswer({ server, thread, graph }: LiveRun, replies: Replies): Promise<string> {
  try {
    return await createRun(server, thread, graph, { command: { resume: replies } });
  } catch (error) {
    if (!NOT_WAITING.test(readProblem(error).message)) throw error;
    return createRun(server, thread, graph, { input: { messages: [{ role: "user", content: JSON.stringify(replies) }] } });
  }
}

/** Look for some seconds whether a run that answers fails, as another was first: Aegra takes both, and one of them fails. */
async function isAccepted(run: LiveRun, id: string): Promise<boolean> {
  for (let look = 0; look < MAX_LOOKS; look += 1) {
    const found: { status: string; error_message?: string | null } = await ask(() => run.server.client.runs.get(run.thread, id));
    if (found.status === "error" && LATE.test(found.error_message ?? "")) return false;
    if (found.status !== "pending" && found.status !== "running") return true;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
  return true;
}
