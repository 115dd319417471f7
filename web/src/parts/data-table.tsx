import type { ComponentChildren, JSX } from "preact";
import { memo } from "preact/compat";

export interface TableColumn<Row> {
  title: ComponentChildren;
  show: (row: Row) => ComponentChildren;
  /** Class of its cells: `figure`, such as. */
  kind?: string | undefined;
}

interface DataTableProps<Row> {
  name?: string;
  /** For those who do not see it. */
  label: string;
  /** The first one names the row, unless it is a box to select it. */
  columns: readonly TableColumn<Row>[];
  rows: readonly Row[];
  keyOf?: (row: Row) => string;
  isChoice?: boolean;
  /** Class of what scrolls. */
  frame?: string;
  children?: ComponentChildren;
}

/** A table that scrolls by itself where it is wider than the page. */
export const DataTable = <Row,>({ name = "", label, columns, rows, keyOf, isChoice = false, frame = "table-scroll", children }: DataTableProps<Row>) => (
  <div class={frame} tabIndex={0} role="region" aria-label={label}>
    <table class={name}>
      <thead>
        <tr>
          {columns.map(({ title, kind }, place) => (
            <th key={place} scope="col" class={kind}>{title}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, at) => (
          <TableRow key={keyOf?.(row) ?? at} columns={columns} row={row} isChoice={isChoice} />
        ))}
      </tbody>
    </table>
    {children}
  </div>
);

interface RowProps<Row> extends Pick<DataTableProps<Row>, "columns" | "isChoice"> {
  row: Row;
  mark?: string | undefined;
}

/** A row, whose first cell names it; drawn again only where it has changed. */
export const TableRow = memo(function TableRow<Row>({ columns, row, mark, isChoice = false }: RowProps<Row>) {
  return (
    <tr class={mark}>
      {columns.map(({ show, kind }, place) => {
        const Cell = place || isChoice ? "td" : "th";
        return (
          <Cell key={place} class={kind} {...(Cell === "th" && { scope: "row" })}>
            {show(row)}
          </Cell>
        );
      })}
    </tr>
  );
}) as <Row>(props: RowProps<Row>) => JSX.Element;
