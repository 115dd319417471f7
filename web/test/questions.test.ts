import { describe, expect, test } from "vitest";
import { stopRun, type LiveRun } from "../src/client/live-run";
import { readQuestions } from "../src/client/question";
import { nameAsked } from "../src/questions/questions-panel";
import { findAnswered, readArguments } from "../src/client/replies";
import { sendReplies } from "../src/questions/send-replies";

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

test("the last plan says that to reject it ends the run", () => {
  const plan = { goal: "g", version: 3, tasks: [{ id: "a", description: "d", worker: "w", depends_on: [] }] };

  expect(readQuestions([{ id: "1", kind: "plan", plan, warning: "To reject it ends the run.", hint: "Say “only”." }])[0]).toMatchObject({ warning: "To reject it ends the run.", hint: "Say “only”." });
  expect(readQuestions([{ id: "1", kind: "plan", plan }])[0]).toMatchObject({ warning: "", hint: "" });
});

test.each([
  [[{ run_id: "r", status: "running" }], ["cancel r"]],
  [[{ run_id: "r", status: "interrupted" }], ["back to supervisor"]],
])("a run is stopped at work and while it waits for an answer: %j", async (runs, calls) => {
  const done: string[] = [];
  const client = {
    runs: { list: async () => runs, cancel: async (_: string, id: string) => void done.push(`cancel ${id}`) },
    threads: { updateState: async (_: string, { values, asNode }: { values: unknown; asNode: string }) => void done.push(`back to ${asNode}${Object.keys(values as object).join()}`) },
  };
  await stopRun({ server: { client }, thread: "t", refresh: () => done.push("refresh") } as unknown as LiveRun);

  expect(done).toEqual([...calls, "refresh"]);
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

describe("replies are sent", () => {
  const QUESTION = { id: "1", kind: "question", question: "Which year?" };

  /** A run whose server refuses to resume, or says what became of the run that answers. */
  function makeRun(refusal: string, ended: { status: string; error_message?: string }) {
    const created: Record<string, unknown>[] = [];
    const create = async (_thread: string, _graph: string, given: Record<string, unknown>) => {
      if (refusal && "command" in given) throw Object.assign(new Error(refusal), { status: 400, text: JSON.stringify({ detail: refusal }) });
      created.push(given);
      return { run_id: "r" };
    };
    const getState = async () => ({ values: { run: { questions: [QUESTION] } } });
    const client = { runs: { create, get: async () => ended }, threads: { getState } };
    return { created, run: { server: { client, url: "" }, thread: "t", graph: "g", refresh: () => undefined } as unknown as LiveRun };
  }

  test("as what resumes the run", async () => {
    const { run, created } = makeRun("", { status: "interrupted" });
    expect(await sendReplies(run, { "1": "2024" })).toBe(true);
    expect(created).toMatchObject([{ command: { resume: { "1": "2024" } } }]);
  });

  test("in the chat of a thread that the server does not let resume", async () => {
    const { run, created } = makeRun("Cannot resume: thread is not in interrupted state", { status: "interrupted" });
    await sendReplies(run, { "1": "2024" });
    expect(created).toMatchObject([{ input: { messages: [{ role: "user", content: '{"1":"2024"}' }] } }]);
  });

  test("and another refusal is shown", async () => {
    await expect(sendReplies(makeRun("no", { status: "" }).run, { "1": "2024" })).rejects.toThrow("no");
  });

  test("unless another was first", async () => {
    const { run } = makeRun("", { status: "error", error_message: "no open question of 1" });
    expect(await sendReplies(run, { "1": "2024" })).toBe(false);
    expect(await sendReplies(run, { "2": "2024" })).toBe(false);
    expect(await sendReplies(makeRun("the run is at work already", { status: "" }).run, { "1": "2024" })).toBe(false);
  });
});

test("the title says what is waited for", () => {
  const plan = { goal: "g", version: 5, tasks: [{ id: "a", description: "d", worker: "w", depends_on: [] }] };
  expect(nameAsked(readQuestions([{ id: "1", kind: "plan", plan }]))).toBe("Approve this plan?");
  expect(nameAsked(readQuestions([{ id: "1", kind: "plan", plan, number: 2 }]))).toBe("Approve version 2 of the plan?");
  expect(nameAsked(readQuestions([{ id: "1", is: "?" }, { id: "2", is: "?" }]))).toBe("The run waits for 2 answers");
});
