import { expect, test } from "vitest";
import { readQuestions } from "../src/client/question";
import type { TracedTask } from "../src/model/trace";
import { describeEstimate } from "../src/model/estimate";
import { describeBlocked } from "../src/questions/waiting";

const task = (id: string, ...needs: string[]) => ({ id, depends_on: needs.map((each) => ({ task: each, required: true })) }) as unknown as TracedTask;
const TASKS = [task("b", "a"), task("a"), task("c", "b"), task("other")];
const ask = (more: object) => readQuestions([{ id: "1", kind: "question", question: "Which year?", task: "a", ...more }]);

test.each([
  [ask({}), "b and c, and the answer"],
  [ask({ task: "c" }), "the answer"],
  [ask({ task: "a/inner" }), "b and c, and the answer"],
  [ask({ kind: "plan", task: "", plan: { tasks: [{ id: "a" }] } }), "everything: no task has begun"],
])("what a question blocks is what stands behind its task", (open, said) => {
  expect(describeBlocked(open, TASKS)).toBe(said);
});

test("a plan's estimate and its certificate are read, and one without them has none", () => {
  const estimate = { model_calls: 8, cost_usd: 0.02, seconds: 12, low: { seconds: 10, cost_usd: 0.02, model_calls: 8 }, high: { seconds: 30, cost_usd: 0.05, model_calls: 8 } };
  const [given] = ask({ estimate, certificate: { summary: ["at most: 50 model calls", 7] } });
  expect([describeEstimate(given!.estimate!), given!.limits]).toEqual(["12 s (10 s to 30 s) · $0.02 ($0.02 to $0.05) · 8 model calls", ["at most: 50 model calls"]]);
  expect(ask({ estimate: "soon", certificate: null })[0]).toMatchObject({ estimate: null, limits: [] });
});
