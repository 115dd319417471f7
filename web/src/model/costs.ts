import { groupBy } from "./group-by";
import { asText, isNumber, isRecord } from "./json";
import { oncePerTrace } from "./once-per-trace";
import { selectTurn } from "./read-trace";
import type { Trace, TraceEvent } from "./trace";

/** What the model calls of one task, worker, tier or purpose have cost. */
export interface CostRow {
  name: string;
  calls: number;
  inputTokens: number;
  outputTokens: number;
  /** Null: the price of a model is not known. */
  usd: number | null;
  /** Of waiting for models, summed over calls. */
  seconds: number;
}

export type CostGrouping = "purpose" | "task" | "worker" | "tier" | "model";

export const COST_GROUPINGS: readonly CostGrouping[] = ["purpose", "task", "worker", "tier", "model"];

/** Purposes that read better in other words. */
const PURPOSE_NAMES: ReadonlyMap<string, string> = new Map([
  ["turn", "work, with tools"],
  ["report", "work"],
  ["refine", "new words for a task"],
  ["recruit", "a specialist"],
  ["judge", "contradictions"],
  ["select", "the best attempt"],
  ["second look", "a second look at grave findings"],
  ["reduce", "parts of the answer"],
  ["critic", "review of the answer"],
  ["speculation", "begun early, not used"],
]);

/** Return a purpose in plain words. */
export const namePurpose = (purpose: string): string => PURPOSE_NAMES.get(purpose) ?? purpose;

/** Return the costs of the last request by one property of its calls, the most tokens first. */
export function sumCosts(trace: Trace, grouping: CostGrouping): CostRow[] {
  const rows = sumGroups(selectTurn(trace).flatMap((event) => readCosts(event, nameGroup(event, grouping))));
  return [...rows, ...findMissing(trace, rows)].sort((one, other) => countTokens(other) - countTokens(one));
}

/** Of teams in teams: more are no trace of ours. */
const MAX_LEVELS = 20;

/** Return what each task has cost, by its path, with all its attempts and the tasks of its team. */
export const sumTaskCosts = oncePerTrace((trace: Trace): ReadonlyMap<string, CostRow> => {
  const rows = selectTurn(trace).flatMap((event) => {
    const parts = event.task ? event.task.split("/") : [];
    return parts.slice(0, MAX_LEVELS).flatMap((_, index) => readCosts(event, parts.slice(0, index + 1).join("/")));
  });
  return new Map(sumGroups(rows).map((row) => [row.name, row]));
});

/** The name of the row that adds up all others. */
export const SUM = "Sum";

/** Return the sum of rows; its money is not known where that of one is not. */
export const addUp = (rows: readonly CostRow[]): CostRow =>
  rows.reduce(
    (sum, row) => ({
      name: SUM,
      calls: sum.calls + row.calls,
      inputTokens: sum.inputTokens + row.inputTokens,
      outputTokens: sum.outputTokens + row.outputTokens,
      usd: sum.usd === null || row.usd === null ? null : sum.usd + row.usd,
      seconds: sum.seconds + row.seconds,
    }),
    { name: SUM, calls: 0, inputTokens: 0, outputTokens: 0, usd: 0, seconds: 0 },
  );

export const countTokens = (row: CostRow): number => row.inputTokens + row.outputTokens;

const sumGroups = (rows: readonly CostRow[]): CostRow[] => [...groupBy(rows, ({ name }) => name)].map(([name, group]) => ({ ...addUp(group), name }));

/** Return the costs of a call, or of a worker on another server; none of a call that cost nothing. */
function readCosts(event: TraceEvent, name: string): CostRow[] {
  const usage = event.kind === "remote_ended" ? event["usage"] : event.kind === "model_call" && isNumber(event["input_tokens"]) && event;
  if (!isRecord(usage)) return [];
  const { model_calls: calls, cost_usd: usd, input_tokens, output_tokens, seconds } = usage;
  return [
    {
      name,
      calls: isNumber(calls) ? calls : 1,
      inputTokens: toNumber(input_tokens),
      outputTokens: toNumber(output_tokens),
      usd: isNumber(usd) ? usd : null,
      seconds: toNumber(seconds),
    },
  ];
}

function nameGroup(event: TraceEvent, grouping: CostGrouping): string {
  switch (grouping) {
    case "purpose":
      return findPurpose(event);
    case "task":
      return event.task.split("/")[0] || "supervisor";
    case "worker":
      return event.worker || (findPurpose(event) === "answer" ? "synthesizer" : "supervisor");
    default:
      return asText(event[grouping]) || "unknown";
  }
}

/** Return what a call was for. */
export const findPurpose = (event: TraceEvent): string => (event.kind === "remote_ended" ? "another server" : asText(event["purpose"]) || "other");

/** Return the calls that the run's own sum has and its events have not. */
function findMissing({ usage }: Trace, rows: readonly CostRow[]): CostRow[] {
  const found = addUp(rows.map((row) => ({ ...row, usd: row.usd ?? 0 })));
  if (usage.model_calls <= found.calls) return [];
  return [
    {
      name: "not in the events",
      calls: usage.model_calls - found.calls,
      inputTokens: Math.max(0, usage.input_tokens - found.inputTokens),
      outputTokens: Math.max(0, usage.output_tokens - found.outputTokens),
      usd: isNumber(usage.cost_usd) ? Math.max(0, usage.cost_usd - found.usd!) : null,
      seconds: Math.max(0, toNumber(usage.seconds) - found.seconds),
    },
  ];
}

const toNumber = (value: unknown): number => (isNumber(value) ? value : 0);
