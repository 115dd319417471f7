import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

export interface ChoiceColumn<Row> {
  title: string;
  show: (row: Row) => ComponentChildren;
  isFigure?: boolean;
}

interface ChoiceTableProps<Row> {
  name: string;
  /** What the rows are: runs, exams. */
  kind: string;
  /** The newest first. */
  rows: readonly Row[];
  columns: readonly ChoiceColumn<Row>[];
  keyOf: (row: Row) => string;
  /** Of the row's box, for those who do not see it. */
  labelOf: (row: Row) => string;
  /** What is wrong with a row, which then has its first column alone; empty for nothing. */
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
  return (
    <>
      <div class="choice">
        {newer && older && selected.length === 2 ? (
          <a class="button" href={compare(older, newer)}>
            Compare the two
          </a>
        ) : (
          !selected.length && <span class="soft small">Select two {kind} to compare them{act && ", or any to rename or delete them"}.</span>
        )}
        {selected.length > 0 && act?.(selected, () => setChosen([]))}
      </div>
      <div class="table-scroll" tabIndex={0} role="region" aria-label={`${kind}, newest first`}>
        <table class={name}>
          <thead>
            <tr>
              <th scope="col">
                <span class="visually-hidden">Select</span>
              </th>
              {columns.map(({ title, isFigure }) => (
                <th key={title} scope="col" class={isFigure ? "figure" : ""}>
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => {
              const problem = problemOf?.(row);
              const id = keyOf(row);
              return (
                <tr key={id}>
                  <td>{!problem && <input type="checkbox" checked={chosen.includes(id)} onChange={() => choose(id)} aria-label={labelOf(row)} />}</td>
                  {columns.slice(0, problem ? 1 : undefined).map(({ title, show, isFigure }) => (
                    <td key={title} class={isFigure ? "figure" : ""}>
                      {show(row)}
                    </td>
                  ))}
                  {problem && (
                    <td colSpan={columns.length - 1} class="row-problem">
                      {problem}
                    </td>
                  )}
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </>
  );
}
