import { expect, test } from "vitest";
import { MAX_BYTES, shrinkTrace } from "../src/client/shrink-trace";
import { buildTrace } from "../src/model/build-trace";
import { readTrace } from "../src/model/read-trace";
import { makeEvent, makeReport, makeTask } from "./samples";

/** A trace of some tasks as the live page has it. */
function makeTrace(count: number, output: string) {
  const tasks = Array.from({ length: count }, (_, number) => makeTask(`t${number}`));
  const plan = { goal: "g", version: 1, tasks };
  const work = tasks.flatMap(({ id }) => [
    makeEvent(1, "task_started", { task: id }),
    makeEvent(2, "tool_call", { task: id, result: output }),
    makeEvent(3, "report", { task: id, report: makeReport(id, { output }) }),
  ]);
  const events = [makeEvent(0, "request", { request: "r" }), makeEvent(0.5, "plan_created", { plan }), makeEvent(0.6, "ui"), ...work];
  const trace = buildTrace(events);
  return readTrace({ ...trace, run: { ...trace.run, now_s: 4 } })!;
}

const measure = (value: unknown) => new Blob([JSON.stringify(value)]).size;

test("a report holds each plan and report once, and is read as it was", () => {
  const trace = makeTrace(3, "found");
  const shrunk = shrinkTrace(trace);
  expect(JSON.stringify(shrunk).split('"found"')).toHaveLength(1 + 3 + 3);
  const read = readTrace(JSON.parse(JSON.stringify(shrunk)))!;
  expect(read.tasks).toEqual(trace.tasks);
  expect(read.events.filter(({ kind }) => kind === "report").map((event) => event["report"])).toEqual(trace.tasks.map(({ report }) => report));
  expect(read.events.find(({ kind }) => kind === "plan_created")!["plan"]).toEqual(trace.plans[0]);
  expect(read.run).toMatchObject({ cut_texts: 0 });
});

test("a file is not live", () => {
  expect(shrinkTrace(makeTrace(1, "")).run).not.toHaveProperty("now_s");
});

test("a large trace has its texts cut until it is small enough, and says so", () => {
  const shrunk = shrinkTrace(makeTrace(1000, "long ".repeat(2000)));
  expect(measure(shrunk)).toBeLessThanOrEqual(MAX_BYTES);
  expect(shrunk.run).toMatchObject({ cut_texts: 2000 });
  expect((shrunk.run as object)).not.toHaveProperty("left_out_events");
  expect(JSON.stringify(shrunk)).toContain("characters more]");
});

test("of one that is too large all the same, events go that no timeline needs", () => {
  const trace = makeTrace(50, "x");
  trace.events.push(...Array.from({ length: 40_000 }, (_, number) => makeEvent(4 + number, "tool_call", { task: "t1", result: "y".repeat(200) })));
  const shrunk = shrinkTrace(trace);
  expect(measure(shrunk)).toBeLessThanOrEqual(MAX_BYTES);
  expect(shrunk.run).toMatchObject({ left_out_events: 40_050 });
});

test("JSON in JSON without an end is cut", () => {
  let deep: unknown = "end";
  for (let level = 0; level < 100; level += 1) deep = { deep };
  const trace = makeTrace(1, "");
  trace.events.push(makeEvent(9, "tool_call", { args: deep }));
  expect(JSON.stringify(shrinkTrace(trace))).not.toContain("end\"}");
});
