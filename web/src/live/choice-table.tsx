import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { DataTable, type TableColumn } from "../parts/data-table";

interface ChoiceTableProps<Row> {
  name: string;
  /** What the rows are: runs, exams. */
  kind: string;
  /** The newest first. */
  rows: readonly Row[];
  columns: readonly TableColumn<Row>[];
  keyOf: (row: Row) => string;
  /** Of the row's box, for those who do not see it. */
  labelOf: (row: Row) => string;
  /** What is wrong with a row, which cannot be selected then; empty for nothing. */
  problemOf?: (row: Row) => ComponentChildren;
  /** Address that compares two rows, the older one first. */
  compare: (older: string, newer: string) => string;
  /** What else can be done with those selected; `onDone` selects none. */
  act?: (chosen: readonly string[], onDone: () => void) => ComponentChildren;
}

/** Rows to select, of which two can be compared. */
export function ChoiceTable<Row>({ name, kind, rows, columns, keyOf, labelOf, problemOf, compare, act }: ChoiceTableProps<Row>) {
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const choose = (id: string) =>
    setChosen((before) => (before.includes(id) ? before.filter((each) => each !== id) : [...before, id].slice(act ? 0 : -2)));
  const selected = rows.map(keyOf).filter((id) => chosen.includes(id));
  const [newer, older] = selected;
  const box: TableColumn<Row> = {
    title: <span class="visually-hidden">Select</span>,
    show: (row) => !problemOf?.(row) && <input type="checkbox" checked={chosen.includes(keyOf(row))} onChange={() => choose(keyOf(row))} aria-label={labelOf(row)} />,
  };
  const addProblem = (column: TableColumn<Row>, place: number): TableColumn<Row> =>
    place ? column : { ...column, show: (row) => [column.show(row), problemOf?.(row) && <div class="row-problem small">{problemOf(row)}</div>] };
  return (
    <>
      <div class="choice flow">
        {newer && older && selected.length === 2 ? (
          <a class="button" href={compare(older, newer)}>Compare the two</a>
        ) : (
          !selected.length && <span class="soft small">Select two {kind} to compare them{act && ", or any to rename or delete them"}.</span>
        )}
        {selected.length > 0 && act?.(selected, () => setChosen([]))}
      </div>
      <DataTable name={name} label={`${kind}, newest first`} columns={[box, ...columns.map(addProblem)]} rows={rows} keyOf={keyOf} isChoice />
    </>
  );
}
