import { useState } from "preact/hooks";
import { formatCount } from "../model/format";
import { TableRow, type TableColumn } from "./data-table";

/** A column of a table of `Row`; figures are sorted from the largest down. */
export interface Column<Row> extends TableColumn<Row> {
  title: string;
  /** What rows are sorted by; null sorts last. */
  value: (row: Row) => string | number | null;
}

interface SortableTableProps<Row> {
  caption: string;
  columns: Column<Row>[];
  rows: Row[];
  keyOf: (row: Row) => string;
  classOf?: (row: Row) => string;
  /** Below the others, wherever they are sorted to. */
  sum?: Row;
  /** Rows that are shown until the reader asks for more. */
  max?: number;
}

/** A table whose rows are sorted by a column on a press of its title. */
export function SortableTable<Row>({ caption, columns, rows, keyOf, classOf, sum, max = 50 }: SortableTableProps<Row>) {
  const [sorted, setSorted] = useState<{ column: number; isUp: boolean } | null>(null);
  const [more, setMore] = useState(0);
  const shown = max + more;
  const choose = (column: number) =>
    setSorted((before) => ({ column, isUp: before?.column === column ? !before.isUp : columns[column]!.kind !== "figure" }));
  const ordered = sorted ? sortRows(rows, columns[sorted.column]!.value, sorted.isUp) : rows;
  return (
    <div class="table-frame" tabIndex={0} role="group" aria-label={caption}>
      <table class="sortable">
        <caption class="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ title, kind }, index) => (
              <th key={title} scope="col" class={kind} aria-sort={nameOrder(sorted, index)}>
                <button type="button" class="no-print" onClick={() => choose(index)}>
                  {title}
                  <span aria-hidden="true" class="sort-mark">{sorted?.column === index ? (sorted.isUp ? "▲" : "▼") : ""}</span>
                </button>
                {/* A browser repeats texts at the top of each sheet, but no buttons. */}
                <span class="print-only">{title}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {ordered.slice(0, shown).map((row) => (
            <TableRow key={keyOf(row)} columns={columns} row={row} mark={classOf?.(row)} />
          ))}
        </tbody>
        {sum && (
          <tfoot>
            <TableRow columns={columns} row={sum} />
          </tfoot>
        )}
      </table>
      {rows.length > shown && (
        <>
          <button type="button" class="no-print" onClick={() => setMore(more + 200)}>
            Show more of {formatCount(rows.length)} rows
          </button>
          <p class="print-only">
            {shown} of {formatCount(rows.length)} rows
          </p>
        </>
      )}
    </div>
  );
}

function nameOrder(sorted: { column: number; isUp: boolean } | null, index: number) {
  if (sorted?.column !== index) return undefined;
  return sorted.isUp ? ("ascending" as const) : ("descending" as const);
}

function sortRows<Row>(rows: Row[], value: Column<Row>["value"], isUp: boolean): Row[] {
  const sign = isUp ? 1 : -1;
  return rows.toSorted((one, other) => {
    const [first, second] = [value(one), value(other)];
    if (first === null || second === null) return Number(first === null) - Number(second === null);
    return sign * (first < second ? -1 : first > second ? 1 : 0);
  });
}
