import { findAnswer } from "./answer";
import { oncePerTrace } from "./once-per-trace";
import { selectTurn } from "./read-trace";
import { flattenTasks, viewTasks } from "./task-view";
import { writeResult } from "./tool-result";
import type { Proof, Trace, TraceEvent } from "./trace";

/** A quotation with what is around it. */
export interface Passage {
  before: string;
  quote: string;
  after: string;
  /** From 1; absent where it is not known. */
  line?: number;
  /** Where the trace has it from: the source itself, or what a tool answered. */
  from: string;
}

/** A claim that names a source. */
export interface SourcedClaim {
  /** Path of the task. */
  task: string;
  text: string;
  quotation: string;
  confidence: number | null;
  proof: Proof | null;
  /** Null if the trace does not hold the text around the quotation. */
  passage: Passage | null;
}

export interface Source {
  name: string;
  /** Id of its element in the page. */
  anchor: string;
  /** The answer relies on it. */
  isUsed: boolean;
  claims: SourcedClaim[];
}

const CONTEXT_CHARS = 200;

/** Return the sources of the answer and of the claims, those of the answer first. */
export const listSources = oncePerTrace((trace: Trace): Source[] => {
  const used = findAnswer(trace)?.sources ?? [];
  const sources = new Map<string, Source>();
  const getSource = (name: string): Source => {
    const anchor = `source-${sources.size + 1}`;
    const source = sources.get(name) ?? { name, anchor, isUsed: used.includes(name), claims: [] };
    sources.set(name, source);
    return source;
  };
  used.forEach(getSource);
  const passages = new PassageIndex(trace);
  for (const task of flattenTasks(viewTasks(trace))) {
    // A team's report repeats the claims of its own tasks.
    if (task.inner.length) continue;
    (task.traced.report?.claims ?? []).forEach((claim, index) => {
      if (!claim.source) return;
      const quotation = claim.quotation?.trim() ?? "";
      const { text, confidence = null, proof = null } = claim;
      const passage = passages.find(task.path, index, quotation || text);
      getSource(claim.source).claims.push({ task: task.path, text, quotation, confidence, proof, passage });
    });
  }
  return [...sources.values()];
});

/** Finds the text around quotations: as the trace places them, else in what tools have answered. */
class PassageIndex {
  private readonly placed = new Map<string, Passage>();
  private readonly results = new Map<string, { tool: string; text: string }[]>();

  constructor(trace: Trace) {
    for (const event of selectTurn(trace)) {
      if (event.kind === "report") this.readPlaces(event);
      else if (event.kind === "tool_call" && typeof event["result"] === "string") this.readResult(event);
    }
  }

  find(task: string, claim: number, quote: string): Passage | null {
    const placed = this.placed.get(`${task}\n${claim}`);
    if (placed || !quote) return placed ?? null;
    for (const { tool, text } of this.results.get(task) ?? []) {
      const passage = findPassage(text, quote);
      if (passage) return { ...passage, from: `what ${tool} answered` };
    }
    return null;
  }

  private readPlaces(event: TraceEvent): void {
    const places = event["quotations"];
    if (!Array.isArray(places)) return;
    for (const { claim, before, quote, after, line } of places as (Passage & { claim: number })[]) {
      const passage = { before, quote, after, ...(line ? { line } : {}), from: "the source" };
      this.placed.set(`${event.task}\n${claim}`, passage);
    }
  }

  private readResult(event: TraceEvent): void {
    const results = this.results.get(event.task) ?? [];
    results.push({ tool: String(event["tool"]), text: writeResult(String(event["result"])) });
    this.results.set(event.task, results);
  }
}

/** Return a quotation in a text, or in JSON that holds it as a string; null if it is not there. */
export function findPassage(text: string, quote: string): Omit<Passage, "from"> | null {
  for (const words of [quote, JSON.stringify(quote).slice(1, -1)]) {
    const start = text.indexOf(words);
    if (start < 0) continue;
    const end = start + words.length;
    return {
      before: unescapeJson(text.slice(Math.max(0, start - CONTEXT_CHARS), start)),
      quote,
      after: unescapeJson(text.slice(end, end + CONTEXT_CHARS)),
    };
  }
  return null;
}

const unescapeJson = (text: string): string => text.replaceAll("\\n", "\n").replaceAll('\\"', '"');
