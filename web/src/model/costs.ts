import { asText, isNumber } from "./json";
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
  const rows = new Map<string, CostRow>();
  for (const event of selectTurn(trace)) {
    const usage = readUsage(event);
    if (usage) addUsage(rows, nameGroup(event, grouping), usage);
  }
  const missing = findMissing(trace, rows.values());
  if (missing) rows.set(missing.name, missing);
  return [...rows.values()].sort((one, other) => countTokens(other) - countTokens(one));
}

/** Of teams in teams: more are no trace of ours. */
const MAX_LEVELS = 20;

/** Return what each task has cost, by its path, with all its attempts and the tasks of its team. */
export const sumTaskCosts = oncePerTrace((trace: Trace): ReadonlyMap<string, CostRow> => {
  const rows = new Map<string, CostRow>();
  for (const event of selectTurn(trace)) {
    const usage = event.task ? readUsage(event) : null;
    if (!usage) continue;
    const parts = event.task.split("/");
    parts.slice(0, MAX_LEVELS).forEach((_, index) => addUsage(rows, parts.slice(0, index + 1).join("/"), usage));
  }
  return rows;
});

const NOTHING = { calls: 0, inputTokens: 0, outputTokens: 0, usd: 0, seconds: 0 };

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
    { ...NOTHING, name: SUM },
  );

export const countTokens = (row: CostRow): number => row.inputTokens + row.outputTokens;

type UsageFields = Partial<Record<"model_calls" | "input_tokens" | "output_tokens" | "cost_usd" | "seconds", unknown>>;

/** Return the usage of a call, or of a worker on another server; a call that cost nothing has none. */
function readUsage(event: TraceEvent): UsageFields | null {
  if (event.kind === "model_call") return isNumber(event["input_tokens"]) ? (event as UsageFields) : null;
  return event.kind === "remote_ended" ? ((event["usage"] as UsageFields | undefined) ?? null) : null;
}

function addUsage(rows: Map<string, CostRow>, name: string, usage: UsageFields): void {
  const row = rows.get(name) ?? { ...NOTHING, name };
  const usd = usage.cost_usd;
  row.calls += isNumber(usage.model_calls) ? usage.model_calls : 1;
  row.inputTokens += toNumber(usage.input_tokens);
  row.outputTokens += toNumber(usage.output_tokens);
  row.seconds += toNumber(usage.seconds);
  row.usd = row.usd === null || !isNumber(usd) ? null : row.usd + usd;
  rows.set(name, row);
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

/** Return the calls that the run's own sum has and its events have not; null if there are none. */
function findMissing(trace: Trace, rows: Iterable<CostRow>): CostRow | null {
  const whole = trace.usage;
  const found = addUp([...rows].map((row) => ({ ...row, usd: row.usd ?? 0 })));
  if (whole.model_calls <= found.calls) return null;
  return {
    name: "not in the events",
    calls: whole.model_calls - found.calls,
    inputTokens: Math.max(0, whole.input_tokens - found.inputTokens),
    outputTokens: Math.max(0, whole.output_tokens - found.outputTokens),
    usd: isNumber(whole.cost_usd) ? Math.max(0, whole.cost_usd - found.usd!) : null,
    seconds: Math.max(0, toNumber(whole.seconds) - found.seconds),
  };
}

const toNumber = (value: unknown): number => (isNumber(value) ? value : 0);
