import { listAttempts, type Attempt, type Handoff } from "./attempts";
import { groupBy } from "./group-by";
import { sumTaskCosts, type CostRow } from "./costs";
import { oncePerTrace } from "./once-per-trace";
import { findStart, selectTurn } from "./read-trace";
import { listClaims, type SourcedClaim } from "./sources";
import { groupEvents, type TaskView } from "./task-view";
import type { Trace } from "./trace";

/** What a team's files say of a worker, cut. */
export interface WorkerCard {
  description?: string;
  instructions?: string;
  tools?: string[];
  tier?: string;
  /** Name of the team that it is. */
  team?: string;
  /** Host of the server that it is on. */
  host?: string;
}

/** All that a trace says of one task. */
export interface TaskDetails {
  task: TaskView;
  /** Seconds from the request to its start; null before it. */
  begunS: number | null;
  attempts: Attempt[];
  /** Of the last attempt; empty for a task that has not begun, or in older traces. */
  handoff: Handoff;
  card: WorkerCard | null;
  /** The tasks whose reports were in the handoff. */
  given: TaskView[];
  claims: SourcedClaim[];
  /** Of all its attempts; null where the trace has no calls of it. */
  costs: CostRow | null;
}

const readFacts = oncePerTrace((trace: Trace) => {
  const cards = new Map<string, Record<string, WorkerCard>>();
  for (const event of selectTurn(trace)) {
    const workers = event.kind === "request" ? event["workers"] : null;
    if (workers) cards.set(event.within ?? "", workers as Record<string, WorkerCard>);
  }
  return { cards, events: groupEvents(trace), startS: findStart(trace), claims: groupBy(listClaims(trace), ({ task }) => task) };
});

/** Return the details of one of the tasks of a trace. */
export function findDetails(trace: Trace, tasks: ReadonlyMap<string, TaskView>, task: TaskView): TaskDetails {
  const { cards, events, startS, claims } = readFacts(trace);
  const { path, within } = task;
  const attempts = listAttempts((events.get(path) ?? []).filter((event) => (event.within ?? "") === within));
  const handoff = attempts.at(-1)?.handoff ?? {};
  const worker = attempts.at(-1)?.worker || task.worker;
  const given = (handoff.given ?? task.needs.map((need) => need.path.slice(within ? within.length + 1 : 0)))
    .map((id) => tasks.get(within ? `${within}/${id}` : id))
    .filter((needed) => needed !== undefined);
  const card = cards.get(within)?.[worker] ?? null;
  const begunS = task.startedS === null ? null : task.startedS - startS;
  return { task, begunS, attempts, handoff, card, given, claims: claims.get(path) ?? [], costs: sumTaskCosts(trace).get(path) ?? null };
}
