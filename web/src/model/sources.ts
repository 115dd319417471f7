import { findAnswer } from "./answer";
import { oncePerTrace } from "./once-per-trace";
import { selectTurn } from "./read-trace";
import { flattenTasks, viewTasks } from "./task-view";
import { readRow } from "./columns";
import { listResult, readUsed, selectGroup, type UsedRows } from "./tool-result";
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
  /** The source as the claim names it: a document, and after `#` a place in it. */
  source: string;
  quotation: string;
  proof: Proof | null;
  doubt: string;
  /** Null if the trace does not hold the text around the quotation. */
  passage: Passage | null;
  /** What it was computed of, where a tool says it. */
  used: UsedRows | null;
  /** The answer writes 1.250,5 for 1250.5. */
  hasComma?: boolean;
}

export interface Source {
  /** Of a document. */
  name: string;
  /** Id of its element in the page. */
  anchor: string;
  /** The answer relies on it. */
  isUsed: boolean;
  claims: SourcedClaim[];
}

const CONTEXT_CHARS = 200;

/** Return the document of a source, without the place in it. */
export const nameDocument = (source: string): string => source.split("#")[0] || source;

/** Return the sources of the answer and of the claims, those of the answer first. */
export const listSources = oncePerTrace((trace: Trace): Source[] => {
  const used = new Set((findAnswer(trace)?.sources ?? []).map(nameDocument));
  const sources = new Map<string, Source>();
  const getSource = (name: string): Source => {
    const anchor = `source-${sources.size + 1}`;
    const source = sources.get(name) ?? { name, anchor, isUsed: used.has(name), claims: [] };
    sources.set(name, source);
    return source;
  };
  used.forEach(getSource);
  for (const claim of listClaims(trace)) if (claim.source) getSource(nameDocument(claim.source)).claims.push(claim);
  return [...sources.values()];
});

/** Return the claims of all reports, with their quotations in place. */
export const listClaims = oncePerTrace((trace: Trace): SourcedClaim[] => {
  const passages = new PassageIndex(trace);
  // A team's report repeats the claims of its own tasks.
  const tasks = flattenTasks(viewTasks(trace)).filter(({ inner }) => !inner.length);
  const written = findAnswer(trace)?.language === "de" ? { hasComma: true } : {};
  return tasks.flatMap(({ path, traced: { report } }) =>
    (report?.claims ?? []).map((claim, index) => {
      const quotation = claim.quotation?.trim() ?? "";
      const { text, proof = null } = claim;
      const passage = passages.find(path, index, quotation || text);
      const used = proof === "computed" ? passages.findUsed(path, text) : null;
      return { task: path, text, source: claim.source ?? "", quotation, proof, doubt: claim.doubt ?? "", passage, used, ...written };
    }),
  );
});

/** Finds the text around quotations: as the trace places them, else in what tools have answered. */
class PassageIndex {
  private readonly placed = new Map<string, Passage>();
  private readonly used = new Map<string, UsedRows>();
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

  findUsed(task: string, figure: string): UsedRows | null {
    const used = this.used.get(`${task}\n${figure}`);
    return used ? selectGroup(used, readRow(figure)) : null;
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
    const used = readUsed(String(event["result"]));
    for (const text of listResult(String(event["result"]))) {
      results.push({ tool: String(event["tool"]), text });
      const rows = used.find((each) => each.of?.includes(text) ?? true);
      if (rows) this.used.set(`${event.task}\n${text}`, rows);
    }
    this.results.set(event.task, results);
  }
}

/** Return a quotation in a text, or in JSON that holds it as a string; null if it is not there. */
export function findPassage(text: string, quote: string): Omit<Passage, "from"> | null {
  for (const words of [quote, JSON.stringify(quote).slice(1, -1)]) {
    const start = text.indexOf(words);
    if (start < 0) continue;
    const end = start + words.length;
    const around = [text.slice(Math.max(0, start - CONTEXT_CHARS), start), text.slice(end, end + CONTEXT_CHARS)] as const;
    // Of JSON that was cut, only the string that holds the quotation is for a reader.
    const [before, after] = /^\s*[[{]/.test(text) ? [around[0].split(QUOTE_MARK).at(-1)!, around[1].split(QUOTE_MARK)[0]!] : around;
    return { before: unescapeJson(before), quote, after: unescapeJson(after) };
  }
  return null;
}

/** One that ends or begins a string of JSON. */
const QUOTE_MARK = /(?<!\\)"/;

const unescapeJson = (text: string): string => text.replaceAll("\\n", "\n").replaceAll('\\"', '"');
