import { readRow } from "./columns";
import type { SourcedClaim } from "./sources";

/** Where in a text a claim is said, or a figure of it: the mark is put behind. */
export interface Place {
  end: number;
  /** Index of the claim. */
  claim: number;
}

interface Marked {
  index: number;
  text: string;
  figures: ReadonlySet<string>;
  years: ReadonlySet<string>;
  words: ReadonlySet<string>;
  /** Of which one must be there; a claim that is not proved is marked without. */
  names: ReadonlySet<string>;
  /** What it gives a label: "3" of "count: 3". */
  value: string;
  /** Of a row of a table its cells. */
  cells: readonly string[];
  /** Its row is listed as a source has it: it is proved as a whole, not by its figures. */
  isListed: boolean;
  /** The sentences that were found in a source, where the claim says them in other words. */
  quoted: ReadonlySet<string>;
  /** The text that says it writes 1.250,5 for 1250.5. */
  hasComma: boolean;
}

/** Longer claims are passages, which an answer quotes with their source. */
const MAX_CLAIM_CHARS = 400;
const MAX_CLAIMS = 500;
/** A shorter claim may be said by chance. */
const MIN_SAID_CHARS = 12;
const FIGURE = /(?<![\p{L}\p{N}_/#.,:-])[-−]?\d(?:[\d,]*\d)?(?:\.\d+)?(?![\p{L}\p{N}_/-]|[.,:]\d)/gu;
const YEAR = /^(?:19|20)\d\d$/;
/** A figure at the end of a line, behind the colon of its label; a unit may follow. */
const VALUE = /: ([-−]?\d[\d,]*(?:\.\d+)?)(?: [\p{L}%€$]{1,8})?(?=[.\s]*$)/u;
const FIGURE_ALONE = /^[-−]?\d[\d,]*(?:\.\d+)?$/;
/** Before a figure that says where something is, not how much. */
const REFERENCE = /(?<!\p{L})(?:clause|section|article|line|page|klausel|abschnitt|artikel|ziffer|zeile|seite)s?\s+$|§\s*$/iu;
const SENTENCE = /(?<=[.!?;])\s+|\n/g;

const COMMA_FIGURE = /\d[\d.,]*\d/g;
const SWAPPED: Record<string, string> = { ".": ",", ",": "." };
/** Return a text of the same length whose figures have a point before their decimals. */
const writePoints = (text: string): string => text.replace(COMMA_FIGURE, (figure) => figure.replace(/[.,]/g, (mark) => SWAPPED[mark]!));

const readFigure = (text: string): string => String(Number(text.replaceAll(",", "").replace("−", "-")));
const listFigures = (text: string): string[] => [...text.matchAll(FIGURE)].map(([found]) => found);
/** Return whether a figure that is written is one of a claim, perhaps rounded: 3,738 for 3738.31. */
const isFigureOf = (written: string, figures: ReadonlySet<string>): boolean => {
  const figure = readFigure(written);
  const decimals = figure.split(".")[1]?.length ?? 0;
  return figures.has(figure) || [...figures].some((each) => (each.split(".")[1]?.length ?? 0) > decimals && Number(each).toFixed(decimals) === figure);
};
const isYear = (figure: string): boolean => YEAR.test(figure);
/** A figure of one digit is in too many sentences to say which claim is meant. */
const isTelling = (figure: string): boolean => !isYear(figure) && figure.replace(/\D/g, "").length > 1;
/** The words that say what a sentence is about: names, and long words. */
const listWords = (text: string): string[] => text.match(/\p{Lu}[\p{L}\p{N}]{2,}|\p{L}{5,}/gu)?.map((word) => word.toLowerCase()) ?? [];
/** The names in a text; its first word may be written large for that alone. */
const listNames = (text: string): string[] => {
  const [first, ...others] = text.matchAll(/\p{Lu}[\p{L}\p{N}]{2,}/gu);
  const names = first?.index === 0 && others.length ? others : [first, ...others];
  return names.flatMap((found) => found?.[0].toLowerCase() ?? []);
};
const readValue = (text: string) => {
  const found = VALUE.exec(text);
  return found && { figure: readFigure(found[1]!), end: found.index + found[0].length };
};
const squeeze = (text: string): string => text.replace(/\s+/g, " ").replace(/[.\s]+$/, "");
const nameSentence = (text: string): string => squeeze(text.trim()).toLowerCase();

/** Return what is searched for of each claim that was proved, or was found not to be: the longest first. */
export function readClaims(claims: readonly SourcedClaim[]): Marked[] {
  const marked = claims.slice(0, MAX_CLAIMS).flatMap(({ text, proof, quotation, hasComma = false }, index) => {
    if (!proof || proof === "stated" || text.length > MAX_CLAIM_CHARS) return [];
    const found = listFigures(hasComma && proof === "quoted" && !readRow(text) ? writePoints(text) : text);
    return [
      {
        index,
        text: squeeze(text),
        figures: new Set(found.filter(isTelling).map(readFigure)),
        years: new Set(found.filter(isYear)),
        words: new Set(listWords(text)),
        names: new Set(proof === "unproved" ? [] : listNames(text)),
        value: readValue(text)?.figure ?? "",
        cells: readRow(text)?.cells ?? [],
        isListed: proof === "quoted" && readRow(text) !== null,
        quoted: new Set(proof === "quoted" && quotation !== text ? [quotation, squeeze(quotation)].flatMap(splitSentences).map(nameSentence) : []),
        hasComma,
      },
    ];
  });
  return marked.sort((one, other) => other.text.length - one.text.length);
}

/** Return where a text says the claims, in its order.
 *
 * A claim is where its words are; else its figures are, in a sentence about the same: it shares a name with the claim,
 * a long word with one without names, and no year speaks against it. A value behind a colon, also of one digit, is that of the
 * only claim that ends in it. A figure in a row of a table, also of one digit, is that of the claim whose cells are all in the row.
 * A sentence without any of these that a quotation has word for word is that of the quotation.
 *
 * @param around What the text is about besides its own words: the row of a table.
 */
export function placeMarks(text: string, claims: readonly Marked[], around = ""): Place[] {
  const places: Place[] = [];
  let start = 0;
  for (const sentence of splitSentences(text)) {
    const said = placeSaid(sentence, claims);
    const left = said.reduce((text, { from, end }) => text.slice(0, from) + " ".repeat(end - from) + text.slice(end), sentence);
    const [rest, row, whole] = [left, around, sentence].map(claims[0]?.hasComma ? writePoints : String) as [string, string, string];
    const rows = around ? claims.filter((claim) => isRow(claim, row)) : [];
    const figures = placeFigures(rest, claims, `${row} ${whole}`, rows, around !== "");
    const values = said.length || figures.length ? [] : placeValue(rest, claims);
    const quoted = said.length || figures.length || values.length ? [] : placeQuoted(sentence, claims);
    for (const { end, claim } of [...said, ...figures, ...values, ...quoted]) places.push({ end: start + end, claim });
    start += sentence.length;
  }
  const sorted = places.sort((one, other) => one.end - other.end);
  return sorted.filter(({ end }, index) => end !== sorted[index - 1]?.end);
}

/** Return the sentences, each with the space behind it. */
function splitSentences(text: string): string[] {
  const ends = [...text.matchAll(SENTENCE)].map((found) => found.index + found[0].length);
  return [...ends, text.length].map((end, index) => text.slice(ends[index - 1] ?? 0, end));
}

function placeSaid(sentence: string, claims: readonly Marked[]): { from: number; end: number; claim: number }[] {
  const found: { from: number; end: number; claim: number }[] = [];
  for (const { index, text } of claims) {
    const from = text.length < MIN_SAID_CHARS ? -1 : sentence.indexOf(text);
    const end = from + text.length;
    if (from >= 0 && !found.some((other) => other.from < end && from < other.end)) found.push({ from, end, claim: index });
  }
  return found;
}

function placeQuoted(sentence: string, claims: readonly Marked[]): Place[] {
  const words = nameSentence(sentence);
  const found = words.length < MIN_SAID_CHARS ? undefined : claims.find(({ quoted }) => quoted.has(words));
  return found ? [{ end: sentence.replace(/[.\s]+$/, "").length, claim: found.index }] : [];
}

function placeValue(sentence: string, claims: readonly Marked[]): Place[] {
  const written = readValue(sentence);
  const same = claims.filter(({ value }) => value && value === written?.figure);
  return written && same.length === 1 ? [{ end: written.end, claim: same[0]!.index }] : [];
}

/** Return whether all cells of a claim are in a row. */
function isRow({ cells }: Marked, row: string): boolean {
  const figures = new Set(listFigures(row).map(readFigure));
  return cells.length > 1 && cells.every((cell) => row.includes(cell) || figures.has(readFigure(cell)));
}

/** Return the index of the claim that a row of a table lists; null where its figures are computed, or of no claim. */
export function findListed(row: readonly string[], claims: readonly Marked[]): number | null {
  const cells = claims[0]?.hasComma ? row.map(writePoints) : row;
  const known = new Set(cells.flatMap((cell) => [cell.trim(), ...(FIGURE_ALONE.test(cell.trim()) ? [readFigure(cell)] : [])]));
  const isWhole = (claim: Marked) => claim.cells.every((cell) => known.has(cell) || known.has(readFigure(cell)));
  const listed = claims.filter(({ isListed }) => isListed);
  return (listed.find(isWhole) ?? listed.find((claim) => isRow(claim, cells.join(" "))))?.index ?? null;
}

/** Return whether a figure in a row of a table is part of a name, such as "Carprofen 50 mg": behind words, in a cell that a claim has as it is. */
function isInName(row: string, at: number, claims: readonly Marked[]): boolean {
  const [before = "", after = ""] = [row.slice(0, at).split("|").at(-1), row.slice(at).split("|")[0]];
  return /\p{L}{2}/u.test(before) && claims.some(({ cells }) => cells.includes(`${before}${after}`.trim()));
}

/** Return which cell of a listed row has its mark: the last that is not empty, where the asked value usually is. */
export const findMarkedCell = (row: readonly string[]): number => row.findLastIndex((cell) => /[\p{L}\p{N}]/u.test(cell));

function placeFigures(sentence: string, claims: readonly Marked[], context: string, rows: readonly Marked[], isTable: boolean): Place[] {
  const words = new Set(listWords(context));
  const years = listFigures(context).filter(isYear);
  return [...sentence.matchAll(FIGURE)].flatMap((found) => {
    const figure = readFigure(found[0]);
    if (REFERENCE.test(sentence.slice(0, found.index)) || sentence[found.index + found[0].length] === "(") return [];
    const row = isYear(found[0]) ? undefined : rows.find(({ cells }) => cells.some((cell) => readFigure(cell) === figure));
    if (isTable && isInName(sentence, found.index, claims)) return [];
    const end = found.index + found[0].length;
    if (row) return [{ end, claim: row.index }];
    if (!isTelling(found[0])) return [];
    const fitting = claims
      .filter((claim) => isFigureOf(found[0], claim.figures) && (!years.length || !claim.years.size || years.some((year) => claim.years.has(year))))
      .filter(({ names }) => !names.size || [...names].some((name) => words.has(name)))
      .map((claim) => ({ claim: claim.index, shared: [...claim.words].filter((word) => words.has(word)).length }))
      .filter(({ shared }) => shared > 0)
      .sort((one, other) => other.shared - one.shared);
    return fitting[0] ? [{ end, claim: fitting[0].claim }] : [];
  });
}
