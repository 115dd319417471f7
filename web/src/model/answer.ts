import { asList, asRecords, asTexts } from "./json";
import { oncePerTrace } from "./once-per-trace";
import { selectTurn } from "./read-trace";
import type { Claim, Finding, Trace } from "./trace";

/** Two claims or more that cannot all hold. */
export interface Contradiction {
  subject: string;
  claims: Claim[];
  verdict: string;
}

export interface Answer {
  text: string;
  confidence: number | null;
  gaps: string[];
  unanswered: string[];
  contradictions: Contradiction[];
  sources: string[];
  findings: Finding[];
  /** ISO 639-1 code of the language that the program answers in. */
  language: string;
}

/** Return the answer to the last request; null while there is none. */
export const findAnswer = oncePerTrace((trace: Trace): Answer | null => {
  const event = selectTurn(trace).findLast(({ kind, within }) => kind === "answer" && !within);
  const answer = event?.["answer"] as Partial<Answer> | undefined;
  if (typeof answer?.text !== "string") return null;
  return {
    text: answer.text,
    confidence: answer.confidence ?? null,
    gaps: asTexts(answer.gaps),
    unanswered: asTexts(answer.unanswered),
    contradictions: (asRecords(answer.contradictions) as unknown as Contradiction[]).filter(({ claims }) => Array.isArray(claims)),
    sources: asTexts(answer.sources),
    findings: asRecords(answer.findings),
    language: answer.language ?? "en",
  };
});

/** Return the contradictions of the answer; before there is one, those that a judge has decided. */
export function listContradictions(trace: Trace): Contradiction[] {
  const answer = findAnswer(trace);
  if (answer) return answer.contradictions;
  const judged = selectTurn(trace).filter((event) => event.kind === "judged" && !event.within);
  return judged.flatMap((event) => asList(event["contradictions"]) as Contradiction[]);
}

/** Return the index of the claim that a verdict prefers; -1 where it prefers none. */
export function findPrevailing(verdict: string): number {
  return ["the first holds", "the second holds"].findIndex((beginning) => verdict.startsWith(beginning));
}
