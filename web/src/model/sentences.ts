/** What happens in a run, in sentences. */

import { countOf, formatSeconds, nameTeam } from "./format";
import { asList, asRecord, asText } from "./json";
import { toLine } from "./plain-text";
import { labelState } from "./task-view";
import type { Report, TraceEvent } from "./trace";

const MAX_CHARS = 240;
const MAX_NAMES = 4;
/** Names of tools that begin with no verb. */
const OWN_WORDS: Readonly<Record<string, string>> = { web_search: "searching the web for", format_document: "writing the document" };
/** Of a call's arguments, those that say most. */
const ASKED = ["query", "question", "expression", "url", "name", "source", "sql"];
const UNITS: Readonly<Record<string, string>> = { rows: "row", claims: "claim", sources: "source", findings: "finding" };
/** Texts of events, in the order in which they say most. */
const TEXT_KEYS = ["message", "reason", "error", "request", "outcome", "said", "problem"] as const;
const ENDS_IN_ONE = /^[^aeiou]*[aeiou][bdgmnprt]$/;

/** Return names in a row: `a, b and c`; many are counted. */
export function joinNames(found: unknown, noun: string): string {
  const names = asList(found).map((name) => toLine(name, 60));
  if (names.length > MAX_NAMES) return countOf(names.length, noun);
  return names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names.at(-1)}` : (names[0] ?? "");
}

/** Return tasks in a row, each as people write it. */
const joinTasks = (found: unknown): string => joinNames(asList(found).map((id) => asText(id).replaceAll("_", " ")), "task");

const withReason = (words: string, { reason }: TraceEvent): string => [words, asText(reason)].filter(Boolean).join(": ");

/** What an event of each kind says. */
const SENTENCES = new Map<string, (event: TraceEvent, again: readonly TraceEvent[]) => string>([
  ["plan_created", ({ plan }) => `made a plan: ${joinTasks(asList(asRecord(plan)["tasks"]).map((task) => asRecord(task)["id"]))}`],
  ["plan_revised", (event) => withReason("changed the plan", event)],
  ["plan_rejected", ({ problems }) => `the plan was refused: ${asList(problems).map(String).join(", ")}`],
  ["plan_approved", ({ edited, is_fork }) => (is_fork ? "began again with a changed plan" : edited ? "you edited the plan" : "the plan was approved")],
  ["dispatched", ({ tasks }) => `gives work to ${joinTasks(tasks)}`],
  ["awaiting", ({ tasks }) => `waits for ${joinTasks(tasks)}`],
  ["task_started", describeStart],
  ["model_call", (event) => [event["purpose"] ?? event["schema"], event["model"], describeCall(event)].filter(Boolean).join(" · ")],
  ["tool_call", describeTool],
  ["report", ({ report }) => describeReport(report as Report | undefined)],
  ["task_skipped", (event) => withReason("is left out", event)],
  ["escalated", ({ message, reason }) => `could not do it: ${asText(message) || asText(reason)}`],
  ["refined", () => "gets its task in other words"],
  ["reassigned", ({ worker }) => `goes to another worker${worker && `, ${worker}`}`],
  ["split", () => "is divided into smaller tasks"],
  ["recruited", () => "gets a specialist of its own"],
  ["answer", () => "wrote the answer"],
]);

/** Return what an event says; `again` are further calls of the same tool behind a call. */
export const describeEvent = (event: TraceEvent, again: readonly TraceEvent[] = []): string =>
  SENTENCES.get(event.kind)?.(event, again) ?? TEXT_KEYS.map((key) => asText(event[key])).find(Boolean) ?? "";

function describeStart(event: TraceEvent): string {
  const files = joinNames(Object.keys(asRecord(asRecord(event["handoff"])["materials"])), "file");
  const attempt = Number(event["attempt"] ?? 1);
  return `${attempt > 1 ? `tries again, attempt ${attempt}` : "begins"}${files && ` with ${files}`}`;
}

/** Return what a human was asked before an attempt, and answered; empty for other events. */
export function describeAnswered({ kind, rung, handoff }: TraceEvent): string {
  const [question, answer] = Object.entries(asRecord(asRecord(handoff)["answers"])).at(-1) ?? [];
  if (kind !== "task_started" || rung !== "human" || !question) return "";
  const said = asText(answer).startsWith("(the human declined") ? "did not answer." : `answered: “${toLine(answer, MAX_CHARS)}”`;
  return `were asked: ${toLine(question, MAX_CHARS)} You ${said}`;
}

function describeCall(event: TraceEvent): string {
  const tokens = [event["input_tokens"], event["output_tokens"]];
  const counts = tokens[0] == null ? "" : `${tokens.join(" in, ")} out`;
  return [formatSeconds(event["seconds"] as number), counts, asText(event["error"])].filter(Boolean).join(" · ");
}

function describeTool(event: TraceEvent, again: readonly TraceEvent[]): string {
  const args = asRecord(event["args"]);
  const asked = ASKED.map((name) => asText(args[name])).find(Boolean) ?? "";
  const given = again.length ? `, ${countOf(again.length + 1, "call")}` : asked && ` “${toLine(asked, 80)}”`;
  const work = nameWork(asText(event["tool"]));
  const found = asText(event["error"]) || (again.length ? "" : countFound(asText(event["result"]), asText(event["tool"]).includes("search") ? "passage" : "result"));
  return `${asked && !again.length ? work : work.replace(/ for$/, "")}${given}${found && `: ${found}`}`;
}

/** Return a tool's name as what is done: `read_page` as `reading page`. */
export function nameWork(tool: string): string {
  const [verb = "", ...rest] = tool.split("_");
  if (OWN_WORDS[tool] || !verb) return OWN_WORDS[tool] ?? "using a tool";
  const stem = ENDS_IN_ONE.test(verb) ? verb + verb.at(-1) : verb.replace(/(?<!e)e$/, "");
  return [`${stem}ing`, ...rest, ...(verb === "search" ? ["for"] : [])].join(" ");
}

/** Return how much a tool has found; the text of a result that says nothing of it. */
function countFound(result: string, unit: string): string {
  const units: Readonly<Record<string, string>> = { results: unit, ...UNITS };
  let found: unknown;
  try {
    found = JSON.parse(result);
  } catch {
    const [, name, first] = /^\{"(\w+)": \[(\{"\w+":)/.exec(result) ?? []; // a long result is cut
    if (first && units[name!]) return `${countOf(result.split(first).length - 1, units[name!]!)} or more`;
    return /^[[{]/.test(result) ? "" : toLine(result, MAX_CHARS);
  }
  if (typeof found !== "object" || found === null) return toLine(found, MAX_CHARS);
  const table = asRecord(found);
  for (const [name, each] of Object.entries(units)) if (Array.isArray(table[name])) return countOf(table[name].length, each);
  return Array.isArray(found) ? countOf(found.length, "result") : toLine(asText(table["summary"]) || asText(table["value"]), MAX_CHARS);
}

function describeReport(report: Report | undefined): string {
  if (!report) return "";
  const said = report.error || report.escalation?.message || report.output;
  return `${report.status === "completed" ? "reported" : labelState(report.status)}: ${strip(said ?? "")}`;
}

/** Return the words of Markdown; of a table its rows, without the line below its heads. */
const strip = (text: string): string =>
  toLine(
    text
      .slice(0, 4 * MAX_CHARS)
      .replace(/^\|[-:| ]+$/gm, "")
      .replace(/^\|(.*)\|$/gm, (_, row: string) => `${row.split("|").map((cell) => cell.trim()).join(", ")};`)
      .replace(/[*`]+/g, "")
      .replace(/^[>#\s]+|[#|]+/gm, " "),
    MAX_CHARS,
  ).replace(/;$/, "");

/** Return who does what an event says: the task, with its worker where that is another word. */
export function nameDoer({ task, worker, kind }: TraceEvent): string {
  if (!task) return kind === "answer" ? "Synthesizer" : "Supervisor";
  const words = nameTeam(toLine(task, 60));
  return worker && !task.endsWith(worker) ? `${words} (${toLine(worker, 40)})` : words;
}
