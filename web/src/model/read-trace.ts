import { dropAsides, nameRemedy } from "./asides";
import { asRecord, asRecords, asText, asTexts, isNumber, isRecord, type Json } from "./json";
import type { Cause, Dependency, Plan, PlannedTask, Report, Run, RunDocument, Trace, TraceEvent, TracedTask, Usage } from "./trace";

/** A trace from anywhere, completed so that every part can rely on the types: what is malformed is left out. */

/** Return a trace whose lists and objects are all there; null if the value is no trace of a run. */
export function readTrace(value: unknown): Trace | null {
  const trace = asRecord(value);
  const run = asRecord(trace["run"]);
  if (trace["version"] !== 1 || typeof run["request"] !== "string") return null;
  const plans = asRecords(trace["plans"]).map(readPlan);
  const tasks = asRecords(trace["tasks"]).flatMap(readTask);
  return {
    version: 1,
    run: { ...run, status: asText(run["status"]) || "running", models: readTexts(run["models"]) } as Run,
    plans,
    tasks,
    events: readEvents(trace["events"], plans, tasks),
    usage: readUsage(asRecord(trace["usage"])),
    timing: asRecord(trace["timing"]),
    why: readCauses(trace["why"]),
    documents: readDocuments(trace["documents"]),
  };
}

export const readCauses = (value: unknown): Cause[] =>
  asRecords(value).map(({ sentence, tasks, remedies }) => ({
    sentence: dropAsides(asText(sentence)),
    tasks: asTexts(tasks),
    remedies: asRecords(remedies).flatMap(({ kind, name, text }) => nameRemedy({ kind: asText(kind), name: asText(name), text: asText(text) }) ?? []),
  }));

/** Return documents with a safe name, whose content is whole. */
export const readDocuments = (value: unknown): RunDocument[] =>
  asRecords(value)
    .map(({ name, content }) => ({ name: asText(name), content: asText(content) }))
    .filter(({ name, content }) => /^[\w.-]+$/.test(name) && /^[A-Za-z0-9+/]+={0,2}$/.test(content) && content.length % 4 === 0);

const readTexts = (value: unknown): Json =>
  Object.fromEntries(Object.entries(asRecord(value)).filter(([, text]) => typeof text === "string"));

/** Return figures whose counts are numbers. */
export function readUsage(usage: Json): Usage {
  const toCount = (name: string) => (isNumber(usage[name]) ? usage[name] : 0);
  return {
    ...usage,
    model_calls: toCount("model_calls"),
    input_tokens: toCount("input_tokens"),
    output_tokens: toCount("output_tokens"),
    cost_usd: isNumber(usage["cost_usd"]) ? usage["cost_usd"] : null,
    uncounted_calls: toCount("uncounted_calls"),
    ...(isRecord(usage["estimate"]) ? { estimate: readUsage(usage["estimate"]) } : { estimate: null }),
  };
}

/** Return a plan with the tasks that have an id. */
export function readPlan(plan: Json): Plan {
  const version = isNumber(plan["version"]) ? plan["version"] : 1;
  return { ...plan, goal: asText(plan["goal"]), version, tasks: asRecords(plan["tasks"]).flatMap(readPlanned) };
}

function readPlanned(task: Json): PlannedTask[] {
  const id = asText(task["id"]);
  const depends_on = asRecords(task["depends_on"]).flatMap(readDependency);
  return id ? [{ ...task, id, description: asText(task["description"]), worker: asText(task["worker"]), depends_on }] : [];
}

function readTask(task: Json): TracedTask[] {
  const status = (asText(task["status"]) || "waiting") as TracedTask["status"];
  const report = isRecord(task["report"]) ? readReport(task["report"]) : null;
  const team = isRecord(task["team"]) ? { team: readTeam(task["team"]) } : {};
  return readPlanned(task).map((planned) => ({ ...planned, status, report, ...team }));
}

const readTeam = (team: Json): NonNullable<TracedTask["team"]> => ({
  name: asText(team["name"]),
  plans: asRecords(team["plans"]).map(readPlan),
  tasks: asRecords(team["tasks"]).flatMap(readTask),
});

function readDependency(edge: Json): Dependency[] {
  const task = asText(edge["task"]);
  return task ? [{ task, required: edge["required"] !== false }] : [];
}

const readReport = (report: Json): Report =>
  ({
    ...sayHere(report),
    output: dropAsides(asText(report["output"])),
    claims: asRecords(report["claims"]),
    findings: asRecords(report["findings"]),
    gaps: dropAsides(asTexts(report["gaps"])),
    ...(isRecord(report["escalation"]) ? { escalation: sayHere(report["escalation"]) } : {}),
  }) as unknown as Report;

/** What the program says itself in an event, a report or an answer: what others have said stays as it is. */
const SAID = ["text", "gaps", "unanswered", "error", "failures", "message", "reason", "next", "problems"];

/** Return a part of the trace with the program's own words as a page says them. */
function sayHere(part: Json): Json {
  const said = { ...part };
  for (const name of SAID) if (name in said) said[name] = dropAsides(said[name]);
  return said;
}

/** Return the events; a plan or report that the file holds once is put back into its event. */
function readEvents(value: unknown, plans: Plan[], tasks: TracedTask[]): TraceEvent[] {
  const reports = new Map(listPaths(tasks).map(({ path, task }) => [path, task.report]));
  return asRecords(value).flatMap((event) => {
    if (!isNumber(event["t"]) || typeof event["kind"] !== "string") return [];
    const path = asText(event["task"]);
    const plan = isNumber(event["plan"]) ? { plan: plans[event["plan"]] } : {};
    const found = isRecord(event["report"]) ? readReport(event["report"]) : event["kind"] === "report" ? reports.get(path) : undefined;
    const report = found ? { report: found } : {};
    const answer = isRecord(event["answer"]) ? { answer: sayHere(event["answer"]) } : {};
    return [{ ...sayHere(event), task: path, worker: asText(event["worker"]), ...plan, ...report, ...answer } as TraceEvent];
  });
}

/** Return tasks with their paths, each before those of its team: `outer/inner`. */
export const listPaths = (tasks: readonly TracedTask[], within = ""): { path: string; task: TracedTask }[] =>
  tasks.flatMap((task) => [{ path: within + task.id, task }, ...listPaths(task.team?.tasks ?? [], `${within}${task.id}/`)]);

/** Return when the last request was accepted: times in the report count from it. */
export const findStart = (trace: Trace): number => selectTurn(trace)[0]?.t ?? 0;

/** Return the events since the last request; the trace's tasks and figures are of that one. */
export const selectTurn = (trace: Trace): TraceEvent[] => selectLastRequest(trace.events);

/** Return the events since the last request of the run, or of the team of a task. */
export function selectLastRequest(events: TraceEvent[], within = ""): TraceEvent[] {
  const start = events.findLastIndex((event) => event.kind === "request" && (event.within ?? "") === within);
  return start > 0 ? events.slice(start) : events;
}
