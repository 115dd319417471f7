import { expect, test } from "vitest";
import { addUp, sumCosts, sumTaskCosts } from "../src/model/costs";
import { makeEvent, makeTrace } from "./samples";

const call = (purpose: string, task: string, tokens: number, usd: number | null) =>
  makeEvent(1, "model_call", {
    purpose,
    task,
    worker: task && "reader",
    tier: "fast",
    input_tokens: tokens,
    output_tokens: 1,
    cost_usd: usd,
    seconds: 0.5,
  });

const EVENTS = [call("plan", "", 10, 0.1), call("report", "a", 20, 0.2), call("report", "a/b", 5, null)];
const USAGE = { model_calls: 3, input_tokens: 35, output_tokens: 3, cost_usd: null };

test("calls are summed by purpose, the most tokens first; an unknown price stays unknown", () => {
  const rows = sumCosts(makeTrace({ events: EVENTS, usage: USAGE }), "purpose");

  expect(rows.map(({ name, calls, inputTokens, usd }) => [name, calls, inputTokens, usd])).toEqual([
    ["report", 2, 25, null],
    ["plan", 1, 10, 0.1],
  ]);
});

test("the calls of an inner team are their task's", () => {
  const rows = sumCosts(makeTrace({ events: EVENTS, usage: USAGE }), "task");

  expect(rows.map(({ name, inputTokens }) => [name, inputTokens])).toEqual([
    ["a", 25],
    ["supervisor", 10],
  ]);
});

test("calls that are in the sum of the run only have a row of their own", () => {
  const rows = sumCosts(makeTrace({ events: EVENTS, usage: { ...USAGE, model_calls: 4, input_tokens: 40 } }), "tier");

  expect(rows.at(-1)).toMatchObject({ name: "not in the events", calls: 1, inputTokens: 5 });
});

test("a call that cost nothing is not counted", () => {
  const failed = makeEvent(1, "model_call", { error: "MODEL_UNREACHABLE", seconds: 1 });

  expect(sumCosts(makeTrace({ events: [failed] }), "purpose")).toEqual([]);
});

test("a task has the costs of its attempts and of its team, and the rows add up to the run", () => {
  const trace = makeTrace({ events: [...EVENTS, call("report", "a", 7, 0)], usage: { ...USAGE, model_calls: 4, input_tokens: 42 } });
  const costs = [...sumTaskCosts(trace)].map(([path, { calls, inputTokens }]) => [path, calls, inputTokens]);

  expect(costs).toEqual([
    ["a", 3, 32],
    ["a/b", 1, 5],
  ]);
  expect(addUp(sumCosts(trace, "task"))).toMatchObject({ calls: 4, inputTokens: 42, usd: null });
});
