import { loadSummary } from "../live/kept-trace";
import type { LiveRun } from "../live/live-run";
import { Problem } from "../live/problem";
import { readQuestions } from "./question";
import { findAnswered, type Replies } from "./replies";

const ANSWERED = "Answered already, in another tab or by another user. Below is how the run is now.";

/** Send replies to open questions; those that are answered meanwhile stay as they were answered.
 *
 * @throws Problem: a question is no longer open, or the server does not take the replies.
 */
export async function sendReplies(run: LiveRun, replies: Replies): Promise<void> {
  const { run: view } = await loadSummary(run.server, run.thread);
  if (findAnswered(replies, readQuestions(view?.questions ?? [])).length) {
    run.refresh();
    throw new Problem("refused", ANSWERED);
  }
  try {
    await run.answer(replies);
  } catch (error) {
    run.refresh();
    throw error;
  }
}
