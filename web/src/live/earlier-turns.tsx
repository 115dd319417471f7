import type { Trace } from "../model/trace";
import { MarkdownText } from "../parts/markdown-text";
import { Text } from "../parts/text";

export interface Turn {
  request: string;
  answer: string;
}

/** Return the requests of a thread with their answers, in their order; the last one is that of the run. */
export function listTurns({ events }: Trace): Turn[] {
  const turns: Turn[] = [];
  for (const event of events) {
    if (event.within) continue;
    if (event.kind === "request") turns.push({ request: String(event["request"] ?? ""), answer: "" });
    const answer = event["answer"] as { text?: unknown } | undefined;
    if (event.kind === "answer" && turns.length) turns.at(-1)!.answer = String(answer?.text ?? "");
  }
  return turns;
}

/** What was asked and answered in the thread before this run. */
export function EarlierTurns({ trace }: { trace: Trace }) {
  const turns = listTurns(trace).slice(0, -1);
  if (!turns.length) return null;
  return (
    <details class="earlier-turns">
      <summary>{turns.length === 1 ? "1 earlier request" : `${turns.length} earlier requests`} in this thread</summary>
      {turns.map(({ request, answer }, index) => (
        <article key={index} aria-label={`request ${index + 1}`}>
          <p>
            <strong><Text>{request}</Text></strong>
          </p>
          {answer ? <MarkdownText text={answer} /> : <p class="soft">No answer.</p>}
        </article>
      ))}
    </details>
  );
}
