import { expect, test } from "vitest";
import { listEventLines, listKinds, listShownEvents } from "../src/model/event-lines";
import { makeEvent, makeTrace } from "./samples";

const TRACE = makeTrace({
  events: [
    makeEvent(-9, "request", { request: "What is coffee?" }),
    makeEvent(-8, "answer"),
    makeEvent(0, "request", { request: "What costs Huila?" }),
    makeEvent(1, "tool_call", { task: "a/b", tool: "search", seconds: 0.1, error: "refused" }),
    makeEvent(2, "ui", {}),
    makeEvent(3, "escalated", { task: "ab", message: "Which year?" }),
  ],
});
const EVENTS = listShownEvents(TRACE);
const ALL = { kind: "", task: "", text: "" };

test.each([
  [ALL, [0, 1, 3]],
  [{ ...ALL, kind: "request" }, [0]],
  [{ ...ALL, task: "a" }, [1]],
  [{ ...ALL, text: " HUILA" }, [0]],
  [{ ...ALL, text: "search" }, [1]],
])("a filter selects by kind, task and words: %j", (filter, moments) => {
  expect(listEventLines(EVENTS, filter).map(({ event }) => event.t)).toEqual(moments);
});

test("what failed is marked", () => {
  expect(listEventLines(EVENTS, ALL).map(({ isFailed }) => isFailed)).toEqual([false, true, true]);
});

test("kinds are listed once", () => {
  expect(listKinds(EVENTS)).toEqual(["escalated", "request", "tool_call"]);
});

test("the events of a follow-up are its own, on the clock of its request", () => {
  const events = [makeEvent(0, "request"), makeEvent(3, "answer"), makeEvent(10, "request"), makeEvent(12.5, "answer")];
  const shown = listShownEvents(makeTrace({ events }));
  expect(listEventLines(shown, ALL).map(({ event, seconds }) => [event.kind, seconds])).toEqual([
    ["request", 0],
    ["answer", 2.5],
  ]);
});
