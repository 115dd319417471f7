/** The open questions of a run, in the forms of docs/guide/questions.md. All of it is data: nothing is trusted. */

import { dropAsides } from "../model/asides";
import { asList, asRecord, asText, asTexts, isNumber, isRecord, type Json } from "../model/json";
import { readPlan, readUsage } from "../model/read-trace";
import type { Estimate, Plan } from "../model/trace";

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
  /** Which plan of its request it is. */
  number: number;
  /** What a rejection leads to, where it is not another plan. */
  warning: string;
  /** What the reason of a rejection can change, where that is not anything. */
  hint: string;
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
    task: asText(found.task),
    worker: asText(found.worker),
    problems: dropAsides(asTexts(found.problems)),
    estimate: isRecord(found.estimate) ? readUsage(found.estimate) : null,
    limits: isRecord(found.certificate) ? asTexts(found.certificate.summary) : [],
  };
  const plan = found.kind === "plan" ? readWholePlan(asRecord(found.plan)) : null;
  if (plan) return { ...asked, kind: "plan", plan, number: isNumber(found.number) ? found.number : 1, warning: asText(found.warning), hint: asText(found.hint) };
  if (found.kind === "question" && typeof found.question === "string") {
    return { ...asked, kind: "question", question: found.question, partial: asText(found.partial), choices: readChoices(found) };
  }
  if (found.kind === "tool_call" && typeof found.tool === "string" && isRecord(found.call_args)) {
    return { ...asked, kind: "tool_call", tool: found.tool, args: found.call_args };
  }
  const value = "is" in found ? found.is : found;
  return { ...asked, kind: "other", value, choices: isRecord(value) ? readChoices(value) : [] };
}

/** Return a plan all of whose tasks can be read. */
function readWholePlan(found: Json): Plan | null {
  const plan = readPlan(found);
  return plan.tasks.length && plan.tasks.length === asList(found.tasks).length ? plan : null;
}

/** Return the answers that a question offers, where it does. */
function readChoices(found: Json): string[] {
  const offered = Array.isArray(found.choices) ? found.choices : found.options;
  return asTexts(offered).slice(0, MAX_CHOICES);
}
