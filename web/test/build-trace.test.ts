import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { buildTrace, findClockStart, readLine, type Entry } from "../src/model/build-trace";
import { readDocuments } from "../src/model/read-trace";
import { makeEvent } from "./samples";

interface Case {
  name: string;
  entries: Entry[];
  trace: { events: unknown[] };
}

// Made by graph/runs/trace.py, whose own test reads the same file.
const CASES = JSON.parse(readFileSync(new URL("kept-traces.json", import.meta.url), "utf8")) as Case[];

test.each(CASES)("the trace is that which the command line prints: $name", ({ entries, trace }) => {
  const read = entries.map((entry) => readLine(JSON.stringify(entry))!);
  expect(JSON.parse(JSON.stringify(buildTrace(read)))).toEqual(trace);
});

test.each(["", "[]", "null", "7", "{", '{"kind": "report"}', '{"kind": 5, "t": 1}', 4, null, undefined])(
  "a line that is no entry is left out: %s",
  (line) => expect(readLine(line)).toBeNull(),
);

test("an event without a task and a worker gets empty ones", () => {
  expect(readLine('{"kind": "answer", "t": 1}')).toEqual({ kind: "answer", t: 1, task: "", worker: "" });
});

test("the clock of a run stands still between its starts", () => {
  const began = { run: { thread: "t", team: "a", started: "2026-11-29T12:48:00.000Z" } };
  const first = [began, makeEvent(0, "request"), makeEvent(15, "plan_created")] as Entry[];
  const resumed = [{ resumed: "2026-11-29T12:49:30.000Z" }, makeEvent(15, "plan_revised")] as Entry[];

  expect(findClockStart(first)).toBe("2026-11-29T12:48:00.000Z");
  expect(findClockStart([...first, ...resumed])).toBe("2026-11-29T12:49:15.000Z");
  expect(findClockStart([])).toBe("");
});

test("documents have a safe name and a whole content", () => {
  const content = btoa("# Report\n");
  const given = [{ name: "report.md", content }, { name: "../a.md", content }, { name: "b.md", content: `${content.slice(0, -2)}… cut` }, "c.md"];
  expect(readDocuments(given)).toEqual([{ name: "report.md", content }]);
});
