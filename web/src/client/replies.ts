/** What answers a question: decisions in the form of LangChain's middleware, which the server reads. */

import { isRecord } from "../model/json";
import type { PlannedTask } from "../model/trace";
import type { Question } from "./question";

export type Reply = unknown;
/** Replies by the id of their question. */
export type Replies = Record<string, Reply>;

const decide = (decision: Record<string, unknown>): Reply => ({ decisions: [decision] });

export const approve = (): Reply => decide({ type: "approve" });
export const reject = (reason: string): Reply => decide({ type: "reject", message: reason.trim() });
export const respond = (answer: string): Reply => decide({ type: "respond", message: answer });

/** Return the reply that runs the plan as edited; the server checks it. */
export const editPlan = (goal: string, tasks: readonly PlannedTask[]): Reply =>
  decide({ type: "edit", edited_action: { name: "run_plan", args: { goal, tasks } } });

/** Return the reply that makes a call with other arguments. */
export const editCall = (tool: string, args: Record<string, unknown>): Reply =>
  decide({ type: "edit", edited_action: { name: tool, args } });

/** Return arguments from their JSON, or what is wrong with it. */
export function readArguments(json: string): { args: Record<string, unknown> } | { problem: string } {
  try {
    const found: unknown = JSON.parse(json);
    return isRecord(found) ? { args: found } : { problem: "The arguments are a JSON object: {\"name\": value}." };
  } catch (error) {
    return { problem: `This is no JSON: ${(error as Error).message}` };
  }
}

/** Return what of the replies can no longer be sent, as its question is not open any more. */
export function findAnswered(replies: Replies, open: readonly Question[]): string[] {
  const ids = new Set(open.map(({ id }) => id));
  return Object.keys(replies).filter((id) => !ids.has(id));
}
