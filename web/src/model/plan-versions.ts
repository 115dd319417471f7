import { asRecord, asText, asTexts } from "./json";
import { oncePerTrace } from "./once-per-trace";
import { findStart, selectTurn } from "./read-trace";
import { toLine } from "./plain-text";
import { joinNames } from "./sentences";
import type { Plan, PlannedTask, Trace, TraceEvent } from "./trace";

/** A part of a task that differs between two versions of a plan. */
export interface ChangedPart {
  name: string;
  before: string;
  after: string;
}

export interface PlanDifference {
  added: PlannedTask[];
  removed: PlannedTask[];
  changed: { id: string; parts: ChangedPart[] }[];
  kept: string[];
}

export interface PlanVersion {
  plan: Plan;
  /** Seconds from the request. */
  t: number;
  /** `planned`, `revised` or `edited by the user`. */
  origin: string;
  /** A run begins with it that another one's plan was changed for. */
  isFork: boolean;
  /** Why it replaced the version before; empty for the first one. */
  reason: string;
  /** From the version before; null for the first one. */
  difference: PlanDifference | null;
  /** What happened before it was there: refused plans, corrections, reviews. */
  notes: PlanNote[];
  /** What happened after it, of the last version. */
  later: PlanNote[];
}

export interface PlanNote {
  t: number;
  text: string;
}

const ORIGINS: Readonly<Record<string, string>> = {
  plan_created: "planned",
  plan_revised: "revised",
  plan_approved: "edited by the user",
};

/** Return the versions of the last request's plan, each with its difference from the one before. */
export const listPlanVersions = oncePerTrace((trace: Trace): PlanVersion[] => {
  const versions: PlanVersion[] = [];
  const startS = findStart(trace);
  let notes: PlanNote[] = [];
  for (const event of selectTurn(trace)) {
    if (event.within) continue;
    const origin = ORIGINS[event.kind];
    const plan = event["plan"] as Plan | undefined;
    if (origin && Array.isArray(plan?.tasks)) {
      const before = versions.at(-1)?.plan;
      const difference = before ? comparePlans(before, plan) : null;
      versions.push({ plan, t: event.t - startS, origin, isFork: event["is_fork"] === true, reason: asText(event["reason"]), difference, notes, later: [] });
      notes = [];
    } else {
      const text = NOTES.get(event.kind)?.(event);
      if (text) notes.push({ t: event.t - startS, text });
    }
  }
  const last = versions.at(-1);
  if (last) last.later = notes;
  return versions;
});

/** Return what the user changed of the last request's plan before it ran, in words; empty where nothing. */
export function describeEdit(trace: Trace): string {
  const edit = listPlanVersions(trace).findLast(({ origin }) => origin === ORIGINS["plan_approved"]);
  if (!edit) return "";
  const { added, removed, changed } = edit.difference ?? { added: [], removed: [], changed: [] };
  const names = [...changed, ...added, ...removed].map(({ id }) => id);
  const words = names.length === 1 && changed[0]?.parts.find(({ name }) => name === "description")?.after;
  if (words && edit.isFork) return `begun again from ${toLine(names[0], 60)}, whose task was changed: “${quoteTask(words)}”`;
  const named = names.length ? `: ${names.length > 1 ? "" : "the task "}${joinNames(names, "task")}` : "";
  return `${edit.isFork ? "begun again with a changed plan" : "plan edited before it ran"}${named}`;
}

/** Return what a task asks: the part of the request that its words quote, or all of them. */
export const quoteTask = (description: string): string => toLine(/^.{0,40}?"(.*)": /s.exec(description)?.[1] ?? description, 80);

/** Return which tasks a plan has that another one has not, and what differs in those of both. */
export function comparePlans(before: Plan, after: Plan): PlanDifference {
  const earlier = new Map(before.tasks.map((task) => [task.id, task]));
  const later = new Set(after.tasks.map((task) => task.id));
  const both = after.tasks.filter((task) => earlier.has(task.id));
  const compared = both.map((task) => ({ id: task.id, parts: compareTasks(earlier.get(task.id)!, task) }));
  return {
    added: after.tasks.filter((task) => !earlier.has(task.id)),
    removed: before.tasks.filter((task) => !later.has(task.id)),
    changed: compared.filter(({ parts }) => parts.length),
    kept: compared.filter(({ parts }) => !parts.length).map(({ id }) => id),
  };
}

function compareTasks(before: PlannedTask, after: PlannedTask): ChangedPart[] {
  const parts = [
    ["description", before.description, after.description],
    ["worker", before.worker, after.worker],
    ["needs", listNeeds(before), listNeeds(after)],
    ["materials", listNames(before.materials), listNames(after.materials)],
    ["tier", before.tier ?? "the worker's own", after.tier ?? "the worker's own"],
  ] as const;
  return parts.flatMap(([name, was, is]) => (was === is ? [] : [{ name, before: was, after: is }]));
}

/** Return the ids that a task needs, sorted: `a, b (optional)`. */
export const listNeeds = (task: PlannedTask): string =>
  listNames(task.depends_on.map((edge) => (edge.required ? edge.task : `${edge.task} (optional)`)));

const listNames = (names: readonly string[] | undefined): string => [...(names ?? [])].sort().join(", ") || "none";

const NOTES = new Map<string, (event: TraceEvent) => string>([
  ["plan_rejected", ({ problems }) => `refused: ${asTexts(problems).join("; ")}`],
  ["plan_corrected", ({ changes }) => `corrected: ${asTexts(changes).join("; ")}`],
  ["plan_by_rule", ({ problems }) => `made by rule, as the planner's plans were refused: ${asTexts(problems).join("; ")}`],
  ["plan_reviewed", describeReview],
]);

function describeReview(event: TraceEvent): string {
  const reports = Object.entries(asRecord(event["reports"]));
  const outcome = event["makes_sense"] ? "the plan stays" : "the plan must change";
  const why = reports.map(([task, reason]) => `${task}, as ${String(reason)}`).join("; ");
  return `reviewed: ${outcome}. ${asText(event["reason"])} (Reviewed because of ${why})`;
}
