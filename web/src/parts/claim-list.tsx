import { readRow, writeColumn, writeFigure, type Row } from "../model/columns";
import type { SourcedClaim } from "../model/sources";
import { ProofMark } from "./proof-mark";
import { Quotation } from "./quotation";
import { TaskLink } from "./task-link";
import { Line, Text } from "./text";

interface Group {
  columns: string[] | null;
  rows: { claim: SourcedClaim; row: Row | null }[];
}

/** Return claims with the rows of one table together. */
function groupRows(claims: readonly SourcedClaim[]): Group[] {
  const groups: Group[] = [];
  for (const claim of claims) {
    const row = claim.quotation ? null : readRow(claim.text);
    const last = groups.at(-1);
    if (row && last?.columns?.join() === row.columns.join()) last.rows.push({ claim, row });
    else groups.push({ columns: row?.columns ?? null, rows: [{ claim, row }] });
  }
  return groups;
}

/** Claims with their quotations in place; rows of one table as that table. */
export const ClaimList = ({ claims }: { claims: readonly SourcedClaim[] }) => (
  <>
    {groupRows(claims).map(({ columns, rows }, index) =>
      columns && rows.length > 1 ? (
        <div key={index} class="table-frame" tabIndex={0} role="group" aria-label="Rows">
          <table>
            <thead>
              <tr>
                {columns.map((name) => (
                  <th key={name} scope="col">
                    <Text>{writeColumn(name)}</Text>
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map(({ row }, at) => (
                <tr key={at}>
                  {row!.cells.map((cell, place) => (
                    <td key={place}>
                      <Text>{writeFigure(cell, columns[place]!)}</Text>
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
          <Origin claim={rows[0]!.claim} />
        </div>
      ) : (
        <ClaimText key={index} claim={rows[0]!.claim} />
      ),
    )}
  </>
);

/** One claim: its words, unless it is its own quotation, and the quotation in place; a row by its columns. */
const ClaimText = ({ claim }: { claim: SourcedClaim }) => {
  const row = claim.quotation ? null : readRow(claim.text);
  const quote = row ? "" : claim.quotation || claim.passage?.quote || "";
  return (
    <div class="claim">
      {row ? (
        <dl class="row">
          {row.columns.map((name, index) => (
            <div key={index}>
              <dt>
                <Text>{writeColumn(name)}</Text>
              </dt>
              <dd>
                <Text>{writeFigure(row.cells[index]!, name)}</Text>
              </dd>
            </div>
          ))}
        </dl>
      ) : (
        claim.text !== quote && (
          <p>
            <Text>{claim.text}</Text>
          </p>
        )
      )}
      {quote && <Quotation passage={claim.passage ?? { quote }} />}
      <Origin claim={claim} />
    </div>
  );
};

/** How a claim is proved, where, and by which task. */
const Origin = ({ claim: { proof, doubt, passage, source, task } }: { claim: SourcedClaim }) => (
  <p class="soft small">
    <ProofMark proof={proof} doubt={doubt} />{" "}
    {passage?.line ? `line ${passage.line}` : source.includes("#") ? <Line max={80}>{source.slice(source.indexOf("#") + 1)}</Line> : passage?.from !== "the source" && <Text>{passage?.from ?? ""}</Text>}{" "}
    · <TaskLink path={task} />
  </p>
);
