import { listAttempts, type Attempt, type Handoff } from "./attempts";
import { groupBy } from "./group-by";
import { sumTaskCosts, type CostRow } from "./costs";
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

/** Answers questions about the tasks of one trace. */
export class TaskIndex {
  private readonly events;
  private readonly startS: number;
  private readonly costs: ReadonlyMap<string, CostRow>;
  private readonly cards = new Map<string, Record<string, WorkerCard>>();
  private readonly claims: ReadonlyMap<string, SourcedClaim[]>;

  constructor(
    trace: Trace,
    private readonly tasks: ReadonlyMap<string, TaskView>,
  ) {
    this.events = groupEvents(trace);
    this.startS = findStart(trace);
    this.costs = sumTaskCosts(trace);
    for (const event of selectTurn(trace)) {
      const workers = event.kind === "request" ? event["workers"] : null;
      if (workers) this.cards.set(event.within ?? "", workers as Record<string, WorkerCard>);
    }
    this.claims = groupBy(listClaims(trace), ({ task }) => task);
  }

  /** Return the details of a task; null if the last plan has none of this path. */
  find(path: string): TaskDetails | null {
    const task = this.tasks.get(path);
    if (!task) return null;
    const within = path.slice(0, Math.max(0, path.lastIndexOf("/")));
    const attempts = listAttempts((this.events.get(path) ?? []).filter((event) => (event.within ?? "") === within));
    const handoff = attempts.at(-1)?.handoff ?? {};
    const worker = attempts.at(-1)?.worker || task.worker;
    const given = (handoff.given ?? task.needs.map((need) => need.path.slice(within ? within.length + 1 : 0)))
      .map((id) => this.tasks.get(within ? `${within}/${id}` : id))
      .filter((needed) => needed !== undefined);
    const card = this.cards.get(within)?.[worker] ?? null;
    const begunS = task.startedS === null ? null : task.startedS - this.startS;
    return { task, begunS, attempts, handoff, card, given, claims: this.claims.get(path) ?? [], costs: this.costs.get(path) ?? null };
  }
}
