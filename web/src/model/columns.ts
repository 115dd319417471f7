/** Names of columns and figures, as people write them. */

const SCALES = ["thousand", "million", "billion", "trillion"];
const UNITS = "usd eur gbp chf jpy cny inr percent pct kg mg km cm mm ml kwh mwh gwh kw mw hours days weeks months years metres meters tonnes litres";
const UNIT_WORDS = new Set([...SCALES, ...UNITS.split(" "), "cubic", "square", "per"]);
const CURRENCIES = /^(?:usd|eur|gbp|chf|jpy|cny|inr)$/;
const COLUMN_IN_TEXT = /(?<![\w/.#`-])[a-z][a-z0-9]*(?:_[a-z0-9]+)+(?: (?:19|20)\d\d(?:-\d\d){0,2})?(?![\w/.#-]*\w)/g;
const YEAR_OR_DAY = /^(?:19|20)\d\d(?:-\d\d){0,2}$/;
const COLUMN = /^[a-z][a-z0-9]*(?:_[a-z0-9]+)+(?: \d{4}(?:-\d\d){0,2})?$/i;

/** Return a column of a table in words: `market_cap_billion_usd 2024` as `market cap 2024 (billion USD)`; others as they are. */
export function writeColumn(name: string): string {
  const parts = readColumn(name);
  const [, figure, column] = /^(.* of )(\S+)$/.exec(name) ?? [];
  if (!parts) return column && readColumn(column) ? figure + writeColumn(column) : name;
  const unit = parts.unit.map((word) => (CURRENCIES.test(word) ? word.toUpperCase() : word));
  const subject = parts.subject.join(" ");
  return subject && unit.length ? `${subject} (${unit.join(" ")})` : subject || unit.join(" ");
}

function readColumn(name: string): { subject: string[]; unit: string[] } | null {
  if (!COLUMN.test(name)) return null;
  const words = name.toLowerCase().split(/[_ ]/);
  const year = YEAR_OR_DAY.test(words.at(-1)!) ? [words.pop()!] : [];
  let at = words.length;
  while (at > 0 && UNIT_WORDS.has(words[at - 1]!)) at -= 1;
  return { subject: [...words.slice(0, at), ...year], unit: words.slice(at) };
}

/** Return prose with its columns of money in words; other names may be those of settings. */
export const writeColumns = (text: string): string =>
  text.replace(COLUMN_IN_TEXT, (name) => (readColumn(name)?.unit.some((word) => CURRENCIES.test(word)) ? writeColumn(name) : name));

/** Return a figure of a column that has a unit with its thousands apart; other texts as they are. */
export const writeFigure = (text: string, column: string): string =>
  readColumn(column.replace(/^.* of /, ""))?.unit.length && /^-?\d{4,}(?:\.\d+)?$/.test(text) ? text.replace(/\B(?=(?:\d{3})+(?!\d))(?<!\.\d*)/g, ",") : text;

const FIGURE = /^[-−+]?[$€£]?\d[\d,.]*(?:\s?%)?$/;
/** Written where there is no figure. */
const NO_FIGURE = /^[-–]?$/;

/** Return whether the cells of a column are figures, which stand below each other; days and years are none. */
const areFigures = (cells: readonly string[]): boolean =>
  cells.every((cell) => FIGURE.test(cell) || NO_FIGURE.test(cell)) && cells.some((cell) => FIGURE.test(cell) && !YEAR_OR_DAY.test(cell));

const WHOLE = /^\S{0,16}$/;

/** Return the class of a column's cells: figures are to the right, and like dates and codes not broken. */
export const nameKind = (cells: readonly string[]): "figure" | "whole" | "" =>
  areFigures(cells) ? "figure" : cells.every((cell) => WHOLE.test(cell)) ? "whole" : "";

/** A row of a table, as a claim says it: `company: Alpha; usd: 3.5`. */
export type Row = { columns: string[]; cells: string[] };

/** Return the row that a claim says, of a table of so many columns if that is known; null for other texts. */
export function readRow(text: string, width = 1): Row | null {
  const pairs = text.split("; ").map((part) => /^([^:\n]{1,60}): ([^\n]*)$/.exec(part));
  if (Math.max(pairs.length, width) < 2 || pairs.some((pair) => !pair)) return null;
  return { columns: pairs.map((pair) => pair![1]!), cells: pairs.map((pair) => pair![2]!) };
}

/** Return the columns of two rows of a table of so many columns, of which each row says those where it has a value; null where they are of two tables. */
export function mergeColumns(one: readonly string[], other: readonly string[], width: number): string[] | null {
  const merged = [...one];
  let next = 0;
  for (const name of other) {
    const at = merged.indexOf(name, next);
    if (at < 0 && merged.includes(name)) return null; // in another order
    if (at < 0) merged.splice(next, 0, name);
    next = Math.max(at, next) + 1;
  }
  return merged.length <= width ? merged : null;
}

/** Return the cells of a row below the columns of its table. */
export const placeCells = (row: Row, columns: readonly string[]): string[] => columns.map((name) => row.cells[row.columns.indexOf(name)] ?? "–");
