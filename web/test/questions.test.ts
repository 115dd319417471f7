import { expect, test } from "vitest";
import { readQuestions } from "../src/questions/question";
import { findAnswered, readArguments } from "../src/questions/replies";

test("each kind of question is read, in the order in which they came", () => {
  const plan = { goal: "g", version: 2, tasks: [{ id: "a", description: "d", worker: "w", depends_on: [{ task: "b" }] }] };
  const found = readQuestions([
    { id: "1", kind: "plan", plan, problems: ["task 'a' is vague"] },
    { id: "2", kind: "question", task: "a", worker: "w", question: "Which year?", partial: "2024: 5" },
    { id: "3", kind: "tool_call", tool: "send", call_args: { to: "x" } },
    { id: "4", is: { choices: ["yes", "no", 7] } },
  ]);

  expect(found.map(({ kind }) => kind)).toEqual(["plan", "question", "tool_call", "other"]);
  expect(found[0]).toMatchObject({ problems: ["task 'a' is vague"], plan: { tasks: [{ depends_on: [{ required: true }] }] } });
  expect(found[3]).toMatchObject({ choices: ["yes", "no"] });
});

test("what has another form than ours is shown as it is, and without an id not at all", () => {
  const found = readQuestions([null, 7, { kind: "plan" }, { id: "1", kind: "plan", plan: { tasks: [7] } }, { id: "2", is: "Which?" }]);

  expect(found.map(({ id, kind }) => [id, kind])).toEqual([["1", "other"], ["2", "other"]]);
});

test("a reply to a question that is no longer open is found", () => {
  expect(findAnswered({ "1": 0, "2": 0 }, readQuestions([{ id: "2", is: "?" }]))).toEqual(["1"]);
});

test("arguments are a JSON object", () => {
  expect(readArguments('{"a": 1}')).toEqual({ args: { a: 1 } });
  expect(readArguments("[1]")).toHaveProperty("problem");
  expect(readArguments("{a")).toHaveProperty("problem");
});
