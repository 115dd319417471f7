import { expect, test } from "vitest";
import { listAttempts } from "../src/model/attempts";
import { buildTimeline } from "../src/model/timeline";
import { viewTasks } from "../src/model/task-view";
import { makeEvent, makeReport, makeTask, makeTrace } from "./samples";

const start = (t: number, attempt: number, rung: string, handoff: object = {}) =>
  makeEvent(t, "task_started", { task: "a", worker: "reader", attempt, rung, tier: "fast", handoff });

test("each attempt has its rung, its calls and why it was not accepted", () => {
  const attempts = listAttempts([
    makeEvent(0, "model_call", { purpose: "speculated" }),
    start(1, 1, ""),
    makeEvent(2, "tool_call", { tool: "search" }),
    makeEvent(3, "refined", { error: "too long", reason: "Be brief." }),
    start(3, 2, "refine", { earlier: "too long", description: "In short." }),
    start(5, 3, "tier", { earlier: "still too long" }),
    makeEvent(6, "report", { report: makeReport("a") }),
  ]);

  expect(attempts.map(({ rung, problem, endS }) => [rung, problem, endS])).toEqual([
    ["", "too long", 3],
    ["refine", "still too long", 5],
    ["tier", "", 6],
  ]);
  expect(attempts[0]!.calls.map(({ kind }) => kind)).toEqual(["model_call", "tool_call"]);
  expect(attempts[0]!.refined).toBe("Be brief.");
});

test("the last attempt of a failed task says why it failed", () => {
  const failed = makeReport("a", { status: "failed", error: "no such file", output: "no such file" });

  const [attempt] = listAttempts([start(1, 1, ""), makeEvent(2, "report", { report: failed })]);

  expect(attempt!.problem).toBe("no such file");
});

test("an attempt at work has no end", () => {
  expect(listAttempts([start(1, 1, "")])[0]!.endS).toBeNull();
});

test("a trace without handoffs has its attempts too", () => {
  const [attempt] = listAttempts([makeEvent(1, "task_started", { task: "a", worker: "reader" })]);

  expect(attempt).toMatchObject({ number: 1, rung: "", handoff: {} });
});

test("an attempt that a stop cut off and a resume began again is the same one", () => {
  const attempts = listAttempts([start(1, 1, ""), start(3, 1, ""), makeEvent(4, "report", { report: makeReport("a") })]);

  expect(attempts.map(({ number, isCutOff, endS }) => [number, isCutOff, endS])).toEqual([
    [1, true, 3],
    [1, false, 4],
  ]);
  const trace = makeTrace({ tasks: [makeTask("a")], events: [makeEvent(0, "request"), start(1, 1, ""), start(3, 1, "")] });
  expect(viewTasks(trace)[0]!.attempts).toBe(1);
});

test("an attempt whose result a resume asked for again is none without a result", () => {
  const report = (t: number) => makeEvent(t, "report", { task: "a", report: makeReport("a") });
  const events = [makeEvent(0, "request"), start(1, 1, ""), report(2), start(3, 1, ""), report(4)];
  const trace = makeTrace({ tasks: [makeTask("a", [], { status: "completed", report: makeReport("a") })], events });

  const row = buildTimeline(trace, viewTasks(trace)).rows.find(({ path }) => path === "a")!;

  expect(row.segments.filter(({ kind }) => kind === "attempt").map(({ isFailed }) => isFailed)).toEqual([false, false]);
});
