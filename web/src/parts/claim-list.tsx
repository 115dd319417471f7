import type { ComponentChildren } from "preact";
import { mergeColumns, nameKind, placeCells, readRow, writeColumn, writeFigure, type Row } from "../model/columns";
import { countOf, formatCount } from "../model/format";
import type { SourcedClaim } from "../model/sources";
import { DataTable } from "./data-table";
import { Quotation } from "./quotation";
import { TaskLink } from "./task-link";
import { Line, Text } from "./text";
import type { Proof } from "../model/trace";

interface Group {
  columns: string[] | null;
  rows: { claim: SourcedClaim; row: Row | null }[];
}

/** Return claims with the rows of one table together. */
function groupRows(claims: readonly SourcedClaim[]): Group[] {
  const groups: Group[] = [];
  for (const claim of claims) {
    const row = claim.quotation ? null : readRow(claim.text, claim.width);
    const last = groups.at(-1);
    const isLike = row && last?.columns && last.rows[0]!.claim.width === claim.width;
    const columns = isLike ? mergeColumns(last.columns!, row.columns, claim.width ?? row.columns.length) : null;
    if (columns) groups[groups.length - 1] = { columns, rows: [...last!.rows, { claim, row }] };
    else groups.push({ columns: row?.columns ?? null, rows: [{ claim, row }] });
  }
  return groups;
}

interface RowTableProps {
  name: string;
  columns: readonly string[];
  cells: readonly (readonly string[])[];
  children?: ComponentChildren;
}

/** Rows of a table, its figures below each other. */
const RowTable = ({ name, columns, cells, children }: RowTableProps) => (
  <DataTable
    label={name}
    frame="table-frame"
    isChoice
    columns={columns.map((column, place) => ({
      title: <Text>{writeColumn(column)}</Text>,
      kind: nameKind(cells.map((row) => row[place] ?? "")),
      show: (row: readonly string[]) => <Text>{writeFigure(row[place] ?? "", column)}</Text>,
    }))}
    rows={cells}
  >
    {children}
  </DataTable>
);

/** Claims with their quotations in place; rows of one table as that table. */
export const ClaimList = ({ claims }: { claims: readonly SourcedClaim[] }) => (
  <>
    {groupRows(claims).map(({ columns, rows }, index) =>
      columns && rows.length > 1 ? (
        <RowTable key={index} name="Rows" columns={columns} cells={rows.map(({ row }) => placeCells(row!, columns))}>
          <Origin claim={rows[0]!.claim} />
        </RowTable>
      ) : (
        <ClaimText key={index} claim={rows[0]!.claim} />
      ),
    )}
  </>
);

/** One claim: its words, unless it is its own quotation, and the quotation in place; a row by its columns. */
const ClaimText = ({ claim }: { claim: SourcedClaim }) => {
  const row = claim.quotation ? null : readRow(claim.text, claim.width);
  const quote = row ? "" : claim.quotation || claim.passage?.quote || "";
  return (
    <div class="claim">
      {row ? (
        <dl class="row">
          {row.columns.map((name, index) => (
            <div key={index}>
              <dt class="soft"><Text>{writeColumn(name)}</Text></dt>
              <dd><Text>{writeFigure(row.cells[index]!, name)}</Text></dd>
            </div>
          ))}
        </dl>
      ) : (
        claim.text !== quote && (
          <p><Text>{claim.text}</Text></p>
        )
      )}
      {quote && <Quotation passage={claim.passage ?? { quote }} />}
      {claim.used && <p class="soft">computed of {countOf(claim.used.count, "row")}:</p>}
      {claim.used && (
        <RowTable name="Rows that it was computed of" columns={claim.used.columns} cells={claim.used.cells}>
          {claim.used.count > claim.used.cells.length && <p class="soft small">and {formatCount(claim.used.count - claim.used.cells.length)} more</p>}
        </RowTable>
      )}
      <Origin claim={claim} />
    </div>
  );
};

/** How a claim is proved, where, and by which task. */
const Origin = ({ claim: { proof, doubt, passage, source, task } }: { claim: SourcedClaim }) => (
  <p class="soft small">
    <ProofMark proof={proof} doubt={doubt} />{" "}
    {passage?.line ? `line ${passage.line}` : source.includes("#") ? <Line max={80}>{source.slice(source.indexOf("#") + 1)}</Line> : passage && passage.from !== "the source" && <span title={passage.from}>from {source ? <Line max={80}>{source}</Line> : "a tool"}</span>}{" "}
    · <TaskLink path={task} />
  </p>
);

const WORDS: Record<Proof, string> = {
  quoted: "quoted",
  computed: "computed",
  returned: "returned by a tool",
  stated: "without a source",
  unproved: "not proved",
};

/** How a program found a claim in what was read; nothing where it was not looked for. */
const ProofMark = ({ proof, doubt }: { proof?: Proof | null; doubt?: string | null }) =>
  proof ? (
    <>
      {" "}
      <span class={`proof soft small ${proof}`}>{WORDS[proof] ?? proof}</span>
      {doubt ? (
        <span class="soft small">
          {" "}
          <Text>{doubt}</Text>
        </span>
      ) : null}
    </>
  ) : null;
