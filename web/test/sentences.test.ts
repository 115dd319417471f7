import { expect, test } from "vitest";
import { listTold } from "../src/model/event-lines";
import { describeEvent, nameDoer, nameWork } from "../src/model/sentences";
import { makeEvent, makeTrace } from "./samples";

const search = (t: number, more: Record<string, unknown> = {}) =>
  makeEvent(t, "tool_call", { task: "minutes", worker: "researcher", tool: "search_documents", args: { query: "pesticides" }, ...more });

test.each([
  [{ result: '{"results": [{"text": "a"}, {"text": "b"}, {"text": "c"}]}' }, "searching documents for “pesticides”: 3 passages"],
  [{ result: '{"results": [{"source": "a", "text": "b"}, {"source": "c", "te' }, "searching documents for “pesticides”: 2 passages or more"],
  [{ tool: "analyze_table", result: '{"results": [{"text": "a_b"}]}' }, "analyzing table “pesticides”: 1 result"],
  [{ result: "7" }, "searching documents for “pesticides”: 7"],
  [{ error: "no file" }, "searching documents for “pesticides”: no file"],
  [{ args: null, result: null }, "searching documents"],
  [{ tool: "web_search", result: "[]" }, "searching the web for “pesticides”: 0 results"],
])("a call of a tool says what was asked and found: %j", (more, said) => {
  expect(describeEvent(search(1, more))).toBe(said);
});

test.each([
  ["calculate", "calculating"],
  ["run_tests", "running tests"],
  ["analyze_table", "analyzing table"],
  ["see_page", "seeing page"],
  ["", "using a tool"],
])("a tool's name says what is done: %s", (tool, said) => {
  expect(nameWork(tool)).toBe(said);
});

test("calls of one tool, one after another, are one sentence; a failed one stands alone", () => {
  const calls = [1, 2, 3, 4].map((t) => makeEvent(t, "tool_call", { task: "sums", tool: "calculate", args: { expression: "1+1" }, result: "2" }));
  const failed = makeEvent(5, "tool_call", { task: "sums", tool: "calculate", args: {}, error: "no number" });
  const told = listTold(makeTrace({ events: [makeEvent(0, "request"), ...calls, failed, makeEvent(6, "model_call", { task: "sums" })] }));
  expect(told.map(({ text, isFailed }) => [text, isFailed])).toEqual([
    ["plans the work", false],
    ["calculating, 4 calls", false],
    ["calculating: no number", true],
  ]);
});

test("calls of a search, one after another, are a sentence without the word before what is searched for", () => {
  const told = listTold(makeTrace({ events: [search(1), search(2)] }));
  expect(told.map(({ text }) => text)).toEqual(["searching documents, 2 calls"]);
});

test("a table of a report is told by its rows, without the line below its heads", () => {
  const report = { status: "completed", output: "Sorted.\n\n| name | weight (kg) |\n| --- | ---: |\n| Benedikt | 2,310 |\n" };
  expect(describeEvent(makeEvent(1, "report", { report }))).toBe("reported: Sorted. name, weight (kg); Benedikt, 2,310");
  const compared = { status: "completed", output: "> Quoted.\n\nRows (where kg > 3): 2" };
  expect(describeEvent(makeEvent(1, "report", { report: compared }))).toBe("reported: Quoted. Rows (where kg > 3): 2");
});

test("a report is told without its markup, and by its task and worker", () => {
  const report = { status: "completed", output: "**Huila** (`of_a`) costs\n\n| 24 |" };
  const event = makeEvent(1, "report", { task: "prices", worker: "researcher", report });
  expect([nameDoer(event), describeEvent(event)]).toEqual(["Prices (researcher)", "reported: Huila (of_a) costs 24"]);
  expect(nameDoer({ ...event, task: "researcher" })).toBe("Researcher");
});

test("what a human was asked and answered is told before the attempt that has it", () => {
  const start = (attempt: number, rung: string, answers: Record<string, string>) => makeEvent(attempt, "task_started", { task: "sums", worker: "sums", attempt, rung, handoff: { answers } });
  const told = (answer: string) => listTold(makeTrace({ events: [makeEvent(0, "request"), start(1, "", {}), start(2, "human", { "Which year?": answer }), start(3, "tier", { "Which year?": answer })] }));
  expect(told("2024").map(({ who, text }) => `${who} ${text}`)).toEqual(["Supervisor plans the work", "Sums begins", "You were asked: Which year? You answered: “2024”", "Sums tries again, attempt 2", "Sums tries again, attempt 3"]);
  expect(told("(the human declined to answer)")[2]!.text).toBe("were asked: Which year? You did not answer.");
});
