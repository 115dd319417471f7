/** Two exams side by side: which rows changed, and by how much. */

import type { Figure } from "./compare";
import type { Exam, GradedRow } from "./team";

export type RowChange = "better" | "worse" | "same" | "only in A" | "only in B";

export interface RowPair {
  id: string;
  request: string;
  sides: readonly [GradedRow | null, GradedRow | null];
  change: RowChange;
  /** Points of B above A; null where one side lacks the row. */
  difference: number | null;
}

/** Differences below it come from rounding. */
const SMALLEST_DIFFERENCE = 0.05;
const ORDER: RowChange[] = ["worse", "better", "only in A", "only in B", "same"];

/** Return the rows of both exams, those that became worse first. */
export function pairRows(first: Exam, second: Exam): RowPair[] {
  const others = new Map(second.rows.map((row) => [row.id, row] as const));
  const known = new Set(first.rows.map(({ id }) => id));
  const pairs = first.rows.map((row) => pairRow(row, others.get(row.id) ?? null));
  const added = second.rows.filter(({ id }) => !known.has(id)).map((row) => pairRow(null, row));
  return [...pairs, ...added].sort(
    (a, b) => ORDER.indexOf(a.change) - ORDER.indexOf(b.change) || (a.difference ?? 0) - (b.difference ?? 0),
  );
}

function pairRow(first: GradedRow | null, second: GradedRow | null): RowPair {
  const { id, request } = (first ?? second)!;
  if (!first || !second) return { id, request, sides: [first, second], change: first ? "only in A" : "only in B", difference: null };
  const difference = second.score - first.score;
  const change = Math.abs(difference) < SMALLEST_DIFFERENCE ? "same" : difference > 0 ? "better" : "worse";
  return { id, request, sides: [first, second], change, difference };
}

/** Return the score and each metric of both exams; where their rows differ, the score of those in both too. */
export function pairMetrics(first: Exam, second: Exam): Figure[] {
  const names = [...new Set([...Object.keys(first.metrics), ...Object.keys(second.metrics)])];
  const metric = (name: string) => pairFigure(name.replaceAll("_", " "), first.metrics[name], second.metrics[name]);
  return [pairFigure("score", first.score, second.score), ...pairShared(first, second), ...names.map(metric)];
}

function pairShared(first: Exam, second: Exam): Figure[] {
  const shared = pairRows(first, second).filter(({ difference }) => difference !== null);
  if (!shared.length || (shared.length === first.rows.length && shared.length === second.rows.length)) return [];
  const average = (side: 0 | 1) => shared.reduce((sum, { sides }) => sum + sides[side]!.score, 0) / shared.length;
  return [pairFigure(`score, rows in both (${shared.length})`, average(0), average(1))];
}

function pairFigure(label: string, first: number | undefined, second: number | undefined): Figure {
  const change = formatDifference(first === undefined || second === undefined ? null : second - first);
  return { label, values: [first?.toFixed(1) ?? "–", second?.toFixed(1) ?? "–"], change };
}

/** Return a difference with its sign; empty without one. */
export function formatDifference(difference: number | null): string {
  if (difference === null) return "";
  if (Math.abs(difference) < SMALLEST_DIFFERENCE) return "±0";
  return `${difference > 0 ? "+" : "−"}${Math.abs(difference).toFixed(1)}`;
}
