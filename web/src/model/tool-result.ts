import type { Row } from "./columns";
/** Levels of a result that are written as lines; what is deeper stays JSON. */
const MAX_DEPTH = 8;
/** Names of prose, which needs none. */
const PLAIN: ReadonlySet<string> = new Set(["text", "summary", "content", "quote"]);

interface Table {
  columns: readonly unknown[];
  rows: readonly unknown[];
}

/** The rows that a figure was computed of: the first of them, and how many they are. */
export interface UsedRows {
  columns: string[];
  cells: string[][];
  count: number;
  /** The column that divides them into the groups of several figures; absent for one figure. */
  by?: string;
  /** How many rows each group has, where the rows are the first of each. */
  counts?: [group: unknown, count: number][];
  /** The results that they belong to, of a request of several parts; absent for all results. */
  of?: string[];
}

/** Return the rows that a tool has computed its figures of; none for other answers. */
export function readUsed(text: string): UsedRows[] {
  try {
    const { used } = JSON.parse(text) as { used?: unknown };
    return [used].flat().filter(isUsed).map(({ columns, rows, ...rest }) => ({ ...rest, columns: columns.map(String), cells: rows.map((row) => (row as unknown[]).map((cell) => String(cell ?? "–"))) }));
  } catch {
    return []; // it was cut, or is no JSON
  }
}

/** Return how many columns the row of each text has in what a tool answered, where it says rows beside texts. */
export function readWidths(text: string): [text: string, width: number][] {
  try {
    const { rows, results } = JSON.parse(text) as { rows?: unknown[][]; results?: { text?: string }[] };
    return (results ?? []).map((each, index) => [each.text ?? "", rows![index]!.length]);
  } catch {
    return []; // as above, or of another form
  }
}

/** Return those of the rows that one row of the answer is computed of: its group's. */
export function selectGroup(used: UsedRows, row: Row | null): UsedRows {
  const [column, shown] = [used.columns.indexOf(used.by ?? ""), row?.columns.indexOf(used.by ?? "") ?? -1];
  if (column < 0 || shown < 0) return used;
  const cells = used.cells.filter((each) => each[column] === row!.cells[shown]);
  const count = used.counts?.find(([group]) => String(group) === row!.cells[shown])?.[1];
  return { columns: used.columns, cells, count: count ?? cells.length };
}

/** Return the texts in what a tool answered, for a reader: `column: value; column: value` for a row of a table; other text as it is. */
export function listResult(text: string): string[] {
  if (!/^\s*[[{]/.test(text)) return [text];
  try {
    return writeLines(JSON.parse(text), "", 0);
  } catch {
    return [text]; // JSON that was cut, or none
  }
}

function writeLines(value: unknown, name: string, depth: number): string[] {
  const label = name && !PLAIN.has(name) ? `${name}: ` : "";
  if (typeof value !== "object" || value === null) return [`${label}${String(value)}`];
  if (depth > MAX_DEPTH) return [`${label}${JSON.stringify(value)}`];
  if (isTable(value)) {
    const { columns, rows, ...rest } = value;
    return [...rows.map((row) => writeRow(columns, row)), ...writeLines(rest, "", depth + 1)];
  }
  if (Array.isArray(value)) return value.flatMap((each) => writeLines(each, name, depth + 1));
  return Object.entries(value).flatMap(([key, each]) => writeLines(each, key, depth + 1));
}

const isTable = (value: object): value is Table =>
  "columns" in value && "rows" in value && Array.isArray(value.columns) && Array.isArray(value.rows) && value.rows.every(Array.isArray);

type Used = Table & Omit<UsedRows, "columns" | "cells">;

const isUsed = (value: unknown): value is Used => typeof value === "object" && value !== null && isTable(value) && "count" in value && typeof value.count === "number";

const writeRow = (columns: readonly unknown[], row: unknown): string =>
  (row as readonly unknown[]).map((cell, index) => `${String(columns[index] ?? index + 1)}: ${String(cell)}`).join("; ");
