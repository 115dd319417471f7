import { expect, test } from "vitest";
import { listEventLines, listKinds } from "../src/model/event-lines";
import { makeEvent, makeTrace } from "./samples";

const TRACE = makeTrace({
  events: [
    makeEvent(0, "request", { request: "What costs Huila?" }),
    makeEvent(1, "tool_call", { task: "a/b", tool: "search", seconds: 0.1, error: "refused" }),
    makeEvent(2, "ui", {}),
    makeEvent(3, "escalated", { task: "ab", message: "Which year?" }),
  ],
});
const ALL = { kind: "", task: "", text: "" };

test.each([
  [ALL, [0, 1, 3]],
  [{ ...ALL, kind: "request" }, [0]],
  [{ ...ALL, task: "a" }, [1]],
  [{ ...ALL, text: " HUILA" }, [0]],
  [{ ...ALL, text: "search" }, [1]],
])("a filter selects by kind, task and words: %j", (filter, moments) => {
  expect(listEventLines(TRACE, filter).map(({ event }) => event.t)).toEqual(moments);
});

test("what failed is marked", () => {
  expect(listEventLines(TRACE, ALL).map(({ isFailed }) => isFailed)).toEqual([false, true, true]);
});

test("kinds are listed once", () => {
  expect(listKinds(TRACE)).toEqual(["escalated", "request", "tool_call"]);
});
