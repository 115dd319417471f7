import { findAnswer } from "./answer";
import { groupBy } from "./group-by";
import { asList } from "./json";
import { oncePerTrace } from "./once-per-trace";
import { selectTurn } from "./read-trace";
import { flattenTasks, viewTasks } from "./task-view";
import { readRow } from "./columns";
import { listResult, readUsed, readWidths, selectGroup, type UsedRows } from "./tool-result";
import type { Claim, Proof, Trace } from "./trace";

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
  /** Columns of the table whose row it says; absent where it is not known. */
  width?: number;
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

const nameClaim = ({ source, text }: Claim): string => `${source ?? ""}\n${text}`;

/** Return the claims of all reports, with their quotations in place. */
export const listClaims = oncePerTrace((trace: Trace): SourcedClaim[] => {
  const { placed, used, widths, results } = readPassages(trace);
  const findQuote = (task: string, quote: string): Passage | null => {
    for (const { tool, text } of quote ? (results.get(task) ?? []) : []) {
      const passage = findPassage(text, quote);
      if (passage) return { ...passage, from: `what ${tool} answered` };
    }
    return null;
  };
  // A team's report repeats the claims of its own tasks.
  const tasks = flattenTasks(viewTasks(trace)).filter(({ inner }) => !inner.length);
  const written = findAnswer(trace)?.language === "de" ? { hasComma: true } : {};
  const widthOf = (key: string) => (widths.has(key) ? { width: widths.get(key)! } : {});
  // Rows that one without an answer has found are passed on by who shows them.
  const found = tasks.filter(({ state }) => state === "skipped").flatMap(({ traced: { report } }) => report?.claims ?? []);
  const passedOn = new Set(found.map(nameClaim));
  return tasks.flatMap(({ path, state, traced: { report } }) =>
    (report?.claims ?? []).flatMap((claim, index) => {
      if (state !== "skipped" && passedOn.has(nameClaim(claim))) return [];
      const quotation = claim.quotation?.trim() ?? "";
      const { text, proof = null } = claim;
      const passage = placed.get(`${path}\n${index}`) ?? findQuote(path, quotation || text);
      const rows = proof === "computed" ? used.get(`${path}\n${text}`) : undefined;
      return { task: path, text, source: claim.source ?? "", quotation, proof, doubt: claim.doubt ?? "", passage, used: rows ? selectGroup(rows, readRow(text)) : null, ...widthOf(`${path}\n${text}`), ...written };
    }),
  );
});

/** Return the texts around quotations: as the trace places them, else in what tools have answered; and the rows of figures. */
function readPassages(trace: Trace) {
  const placed = new Map<string, Passage>();
  const used = new Map<string, UsedRows>();
  const widths = new Map<string, number>();
  const results: { task: string; tool: string; text: string }[] = [];
  for (const { kind, task, quotations, tool, result } of selectTurn(trace)) {
    for (const { claim, before, quote, after, line } of (kind === "report" ? asList(quotations) : []) as (Passage & { claim: number })[]) {
      placed.set(`${task}\n${claim}`, { before, quote, after, ...(line ? { line } : {}), from: "the source" });
    }
    if (kind !== "tool_call" || typeof result !== "string") continue;
    const rows = readUsed(result);
    for (const [text, width] of readWidths(result)) widths.set(`${task}\n${text}`, width);
    for (const text of listResult(result)) {
      results.push({ task, tool: String(tool), text });
      const found = rows.find((each) => each.of?.includes(text) ?? true);
      if (found) used.set(`${task}\n${text}`, found);
    }
  }
  return { placed, used, widths, results: groupBy(results, ({ task }) => task) };
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
