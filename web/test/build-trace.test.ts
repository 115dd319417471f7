import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { buildTrace, readLine, type Entry } from "../src/model/build-trace";

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
