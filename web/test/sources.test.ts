import { expect, test } from "vitest";
import { findPassage, listSources } from "../src/model/sources";
import { makeEvent, makeReport, makeTask, makeTrace } from "./samples";

const QUOTE = 'It says "24 EUR".';

function traceWith(events: object[], answerSources: string[] = []) {
  const claims = [{ text: "Huila costs 24 EUR.", source: "prices.md", quotation: QUOTE }];
  const report = makeReport("a", { claims });
  const answer = { text: "24 EUR", sources: answerSources };
  return makeTrace({
    tasks: [{ ...makeTask("a"), status: "completed", report }],
    events: [...(events as never[]), makeEvent(9, "answer", { answer, status: "done" })],
  });
}

test("a quotation is shown where the trace places it", () => {
  const place = { claim: 0, source: "prices.md", line: 3, before: "x ", quote: QUOTE, after: " y" };

  const [source] = listSources(traceWith([makeEvent(1, "report", { task: "a", report: {}, quotations: [place] })]));

  expect(source!.claims[0]!.passage).toEqual({ before: "x ", quote: QUOTE, after: " y", line: 3, from: "the source" });
});

test("rows that a task without an answer has found, and another one shows, are listed once", () => {
  const claims = [{ text: "day: Monday", source: "a.csv" }];
  const [idle, shown] = [makeReport("a", { status: "skipped", claims }), makeReport("b", { claims })];
  const tasks = [{ ...makeTask("a"), status: "skipped" as const, report: idle }, { ...makeTask("b"), status: "completed" as const, report: shown }];

  const [source] = listSources(makeTrace({ tasks }));

  expect(source!.claims.map(({ task, text }) => [task, text])).toEqual([["a", "day: Monday"]]);
});

test("else it is searched in what the tools of its task answered", () => {
  const result = JSON.stringify({ text: `Prices.\n${QUOTE} More.` });

  const [source] = listSources(traceWith([makeEvent(1, "tool_call", { task: "a", tool: "search", result })]));

  expect(source!.claims[0]!.passage).toMatchObject({ quote: QUOTE, from: "what search answered" });
});

test("of what a tool answered, only the text with the quotation is shown", () => {
  const result = JSON.stringify({ summary: `Huila: ${QUOTE}`, confidence: 95, findings: [{ severity: "low" }] });

  const [source] = listSources(traceWith([makeEvent(1, "tool_call", { task: "a", tool: "search", result })]));
  const [cut] = listSources(traceWith([makeEvent(1, "tool_call", { task: "a", tool: "search", result: result.slice(0, -9) })]));

  expect(source!.claims[0]!.passage).toMatchObject({ before: "Huila: ", after: "" });
  expect(cut!.claims[0]!.passage).toMatchObject({ before: "Huila: ", after: "" });
});

test("the places in one document are one source", () => {
  const claims = ["a", "b"].map((place) => ({ text: place, source: `record.json#${place}` }));
  const trace = makeTrace({ tasks: [{ ...makeTask("t"), status: "completed", report: makeReport("t", { claims }) }] });

  expect(listSources(trace).map(({ name, claims }) => [name, claims.length])).toEqual([["record.json", 2]]);
});

test("a quotation that is nowhere has no passage", () => {
  expect(listSources(traceWith([]))[0]!.claims[0]!.passage).toBeNull();
  expect(findPassage("another text", "quote")).toBeNull();
});

test("the sources of the answer are first, each with an anchor of its own", () => {
  const sources = listSources(traceWith([], ["other.md"]));

  expect(sources.map(({ name, anchor, isUsed }) => [name, anchor, isUsed])).toEqual([
    ["other.md", "source-1", true],
    ["prices.md", "source-2", false],
  ]);
});
