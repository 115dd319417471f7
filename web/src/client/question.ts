/** The open questions of a run, in the forms of docs/guide/questions.md. All of it is data: nothing is trusted. */

import { dropAsides } from "../model/asides";
import { readUsage } from "../model/read-trace";
import type { Estimate, Plan, PlannedTask } from "../model/trace";

interface Asked {
  /** Of the interrupt: what an answer is for. */
  id: string;
  /** Path of the task; empty for the run's own plan. */
  task: string;
  worker: string;
  /** What was wrong with the last reply. */
  problems: string[];
  /** What the plan is expected to take. */
  estimate: Estimate | null;
  /** What it can at most take and reach, in lines. */
  limits: string[];
}

export interface PlanQuestion extends Asked {
  kind: "plan";
  plan: Plan;
  /** What a rejection leads to, where it is not another plan. */
  warning: string;
}

export interface WorkerQuestion extends Asked {
  kind: "question";
  question: string;
  /** What was found so far. */
  partial: string;
  choices: string[];
}

export interface CallQuestion extends Asked {
  kind: "tool_call";
  tool: string;
  args: Record<string, unknown>;
}

/** A question of a tool's own, of any form: the tool gets the reply as it is sent. */
export interface OtherQuestion extends Asked {
  kind: "other";
  value: unknown;
  choices: string[];
}

export type Question = PlanQuestion | WorkerQuestion | CallQuestion | OtherQuestion;

const MAX_CHOICES = 20;

/** Return the questions that have an id; without it none can be answered. */
export const readQuestions = (found: readonly unknown[]): Question[] => found.flatMap((each) => readQuestion(each) ?? []);

function readQuestion(found: unknown): Question | null {
  if (!isRecord(found) || typeof found.id !== "string" || !found.id) return null;
  const asked: Asked = {
    id: found.id,
    task: readText(found.task),
    worker: readText(found.worker),
    problems: dropAsides(readTexts(found.problems)),
    estimate: isRecord(found.estimate) ? readUsage(found.estimate) : null,
    limits: isRecord(found.certificate) ? readTexts(found.certificate.summary) : [],
  };
  const plan = found.kind === "plan" ? readPlan(found.plan) : null;
  if (plan) return { ...asked, kind: "plan", plan, warning: readText(found.warning) };
  if (found.kind === "question" && typeof found.question === "string") {
    return { ...asked, kind: "question", question: found.question, partial: readText(found.partial), choices: readChoices(found) };
  }
  if (found.kind === "tool_call" && typeof found.tool === "string" && isRecord(found.call_args)) {
    return { ...asked, kind: "tool_call", tool: found.tool, args: found.call_args };
  }
  const value = "is" in found ? found.is : found;
  return { ...asked, kind: "other", value, choices: isRecord(value) ? readChoices(value) : [] };
}

function readPlan(found: unknown): Plan | null {
  if (!isRecord(found) || !Array.isArray(found.tasks)) return null;
  const tasks = found.tasks.flatMap((task) => readTask(task) ?? []);
  if (!tasks.length || tasks.length !== found.tasks.length) return null;
  return { ...found, goal: readText(found.goal), tasks, version: typeof found.version === "number" ? found.version : 1 };
}

function readTask(found: unknown): PlannedTask | null {
  if (!isRecord(found) || typeof found.id !== "string") return null;
  const edges = Array.isArray(found.depends_on) ? found.depends_on : [];
  return {
    ...found,
    id: found.id,
    description: readText(found.description),
    worker: readText(found.worker),
    depends_on: edges.flatMap((edge) =>
      isRecord(edge) && typeof edge.task === "string" ? [{ task: edge.task, required: edge.required !== false }] : [],
    ),
  };
}

/** Return the answers that a question offers, where it does. */
function readChoices(found: Record<string, unknown>): string[] {
  const offered = Array.isArray(found.choices) ? found.choices : found.options;
  return readTexts(offered).slice(0, MAX_CHOICES);
}

const readText = (found: unknown): string => (typeof found === "string" ? found : "");
const readTexts = (found: unknown): string[] =>
  Array.isArray(found) ? found.filter((each): each is string => typeof each === "string") : [];

function isRecord(found: unknown): found is Record<string, unknown> {
  return typeof found === "object" && found !== null && !Array.isArray(found);
}
