import { useMemo, useState } from "preact/hooks";
import { COST_GROUPINGS, addUp, countTokens, namePurpose, sumCosts, SUM, type CostGrouping, type CostRow } from "../model/costs";
import { describeEstimate, isWithoutModel } from "../model/estimate";
import { countOf, formatCount, formatSeconds, formatUsd } from "../model/format";
import type { Trace, Usage } from "../model/trace";
import { SortableTable, type Column } from "./sortable-table";
import { Line } from "./text";

/** Tokens and money by what the calls were for, by task, worker, tier and model. */
export function CostsSection({ trace }: { trace: Trace }) {
  const [grouping, setGrouping] = useState<CostGrouping>("purpose");
  const rows = useMemo(() => sumCosts(trace, grouping), [trace, grouping]);
  if (isWithoutModel(trace)) return <p>No language model was called, so the run cost nothing.</p>;
  return (
    <>
      <p>
        <Total usage={trace.usage} />
        {trace.usage.estimate && <span class="soft"> Expected when the plan was made: {describeEstimate(trace.usage.estimate)}.</span>}
      </p>
      <div class="choices flow no-print" role="group" aria-label="Sum by">
        <span class="soft">By</span>
        {COST_GROUPINGS.map((name) => (
          <button key={name} type="button" aria-pressed={name === grouping} onClick={() => setGrouping(name)}>{name}</button>
        ))}
        <span class="share-key soft small">
          <span aria-hidden="true" /> tokens in <span class="second" aria-hidden="true" /> tokens out
        </span>
      </div>
      <SortableTable
        key={grouping}
        caption={`Costs by ${grouping}`}
        columns={listColumns(grouping, rows)}
        rows={rows}
        {...(rows.length > 1 ? { sum: addUp(rows) } : {})}
        keyOf={(row) => row.name}
      />
    </>
  );
}

const Total = ({ usage }: { usage: Usage }) => (
  <span>
    {countOf(usage.model_calls, "model call")}, {formatCount(usage.input_tokens)} tokens in,{" "}
    {formatCount(usage.output_tokens)} out, cost {formatUsd(usage.cost_usd)}.
    {usage.uncounted_calls ? ` The tokens of ${countOf(usage.uncounted_calls, "call")} are estimated: the endpoint did not report them.` : ""}
  </span>
);

function listColumns(grouping: CostGrouping, rows: CostRow[]): Column<CostRow>[] {
  const most = Math.max(1, ...rows.map(countTokens));
  const nameOf = ({ name }: CostRow) => (grouping === "purpose" ? namePurpose(name) : name);
  return [
    {
      title: grouping[0]!.toUpperCase() + grouping.slice(1),
      value: nameOf,
      show: (row) => <Line max={60}>{nameOf(row)}</Line>,
    },
    { title: "Calls", value: (row) => row.calls, show: (row) => formatCount(row.calls), kind: "figure" },
    { title: "Tokens in", value: (row) => row.inputTokens, show: (row) => formatCount(row.inputTokens), kind: "figure" },
    { title: "Tokens out", value: (row) => row.outputTokens, show: (row) => formatCount(row.outputTokens), kind: "figure" },
    {
      title: "In and out",
      value: countTokens,
      show: (row) => row.name !== SUM && (
        <span class="share-bar" aria-hidden="true">
          <span style={{ width: `${(100 * row.inputTokens) / most}%` }} />
          <span class="second" style={{ width: `${(100 * row.outputTokens) / most}%` }} />
        </span>
      ),
    },
    { title: "Cost", value: (row) => row.usd, show: (row) => formatUsd(row.usd), kind: "figure" },
    { title: "Model time", value: (row) => row.seconds, show: (row) => formatSeconds(row.seconds), kind: "figure" },
  ];
}
