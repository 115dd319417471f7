import { expect, test } from "vitest";
import { groupGaps, listGaps } from "../src/model/gaps";
import { makeEvent, makeReport, makeTask, makeTrace } from "./samples";

test("gaps that say the same of different things are one, with the others behind it", () => {
  const groups = groupGaps(["a.csv has no column “rain”.", "b.csv has no column “snow”.", "The price of 2023 is not known.", "a.csv has no column “rain”."]);

  expect(groups.map(({ text, others }) => [text, others])).toEqual([
    ["a.csv has no column “rain”.", ["b.csv has no column “snow”."]],
    ["The price of 2023 is not known.", []],
  ]);
});

test("claims that are not proved are one gap, for whatever reason", () => {
  const [group, ...more] = groupGaps(["not proved: “x”: the quotation is not in a.md", "not proved: “y”: “Alpha” is not in the result"]);

  expect([group!.others.length, more]).toEqual([1, []]);
});

test("what was not answered is first, then tasks without a result; a gap that repeats their reason is left out", () => {
  const report = makeReport("a", { status: "failed", output: "", error: "the page could not be loaded" });
  const answer = { text: "None.", unanswered: ["Who pays?"], gaps: ["a: the page could not be loaded", "not answered: Who pays?", "No figure for 2024."] };
  const trace = makeTrace({
    tasks: [{ ...makeTask("a"), status: "failed", report }],
    events: [makeEvent(1, "request"), makeEvent(9, "answer", { answer, status: "partial" })],
  });

  expect(listGaps(trace).map(({ text, problem }) => [text, problem?.tasks.length])).toEqual([
    ["Who pays?", undefined],
    ["the page could not be loaded", 1],
    ["No figure for 2024.", undefined],
  ]);
});

test("the whole request is repeated as a gap only where nothing else is missing", () => {
  const list = (gaps: string[]) => {
    const answer = { text: "None.", unanswered: ["Who pays?"], gaps };
    const trace = makeTrace({ events: [makeEvent(1, "request"), makeEvent(9, "answer", { answer, status: "partial" })] });
    return listGaps({ ...trace, run: { ...trace.run, request: "Who pays? " } }).map(({ text }) => text);
  };

  expect(list(["No file is attached."])).toEqual(["No file is attached."]);
  expect(list([])).toEqual(["Who pays?"]);
});

test("without an answer the tasks without a result are the gaps", () => {
  const trace = makeTrace({ tasks: [{ ...makeTask("a"), status: "skipped", report: null, reason: "b failed" }] });

  expect(listGaps(trace).map(({ text }) => text)).toEqual(["b failed"]);
});

test("beside an answer a task that had nothing to do is no gap; one that was kept from its work is", () => {
  const answer = { text: "12", gaps: ["not used: a.csv"] };
  const events = [makeEvent(1, "request"), makeEvent(9, "answer", { answer, status: "passages" })];
  const idle = { ...makeTask("a"), status: "skipped" as const, report: { task: "a", status: "skipped", output: "nothing to do" } };
  const kept = { ...makeTask("b"), status: "skipped" as const, report: null, reason: "c failed" };

  expect(listGaps(makeTrace({ tasks: [idle, kept], events })).map(({ text }) => text)).toEqual(["c failed", "not used: a.csv"]);
});

test("a part that was put together without a language model is one gap, not also an unanswered part", () => {
  const gap = "“Write a report.” is put together from the results as they are; to write it in other words needs a language model";
  const answer = { text: "12", unanswered: ["Write a report."], gaps: [gap] };

  expect(listGaps(makeTrace({ events: [makeEvent(1, "request"), makeEvent(9, "answer", { answer })] })).map(({ text }) => text)).toEqual([gap]);
});
