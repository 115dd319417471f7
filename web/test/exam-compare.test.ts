import { expect, test } from "vitest";
import { formatDifference, pairMetrics, pairRows } from "../src/model/exam-compare";
import { describeExpectation, describeModels, nameComplaint, readExamTime, type Exam, type GradedRow } from "../src/model/team";

const row = (id: string, score: number): GradedRow => ({
  id, score, request: id, scores: {}, complaints: [], status: "done", seconds: 1, answer: "", error: "",
});
const exam = (rows: GradedRow[], metrics: Record<string, number> = {}, score = 50): Exam => ({
  team: "juice", models: {}, score, threshold: 80, against: "", metrics, left_out: {}, calls: 1, cost_usd: 0, seconds: 1, rows,
});

test("rows that became worse come first, and the same ones last", () => {
  const pairs = pairRows(exam([row("same", 100), row("up", 0), row("down", 100), row("gone", 1)]), exam([row("up", 50), row("new", 2), row("same", 100), row("down", 20)]));
  expect(pairs.map(({ id, change }) => [id, change])).toEqual([
    ["down", "worse"],
    ["up", "better"],
    ["gone", "only in A"],
    ["new", "only in B"],
    ["same", "same"],
  ]);
});

test("a metric that only one exam measured has no difference", () => {
  const [score, facts, judged] = pairMetrics(exam([], { facts: 90 }), exam([], { facts: 95, judged: 10 }, 60));
  expect(score).toEqual({ label: "score", values: ["50.0", "60.0"], change: "+10.0" });
  expect(facts?.change).toBe("+5.0");
  expect(judged).toEqual({ label: "judged", values: ["–", "10.0"], change: "" });
});

test("exams of different rows are compared by the rows in both", () => {
  const figures = pairMetrics(exam([row("a", 50), row("b", 0)]), exam([row("a", 100)]));
  expect(figures[1]).toEqual({ label: "score, rows in both (1)", values: ["50.0", "100.0"], change: "+50.0" });
});

test("a difference has its sign, and a rounding error none", () => {
  expect([5, -5, 0.01, null].map(formatDifference)).toEqual(["+5.0", "−5.0", "±0", ""]);
});

test("an exam's id holds its time, and a foreign id none", () => {
  expect(readExamTime("20261123T043736123456Z-3e84")?.toISOString()).toBe("2026-11-23T04:37:36.000Z");
  expect(readExamTime("../passwd")).toBeNull();
});

test("expectations and models are told in words", () => {
  expect(describeExpectation({ edges: [["a", "b"]], findings: [{ file: "x.py", line: 3 }], status: "done" })).toBe(
    "edges: a → b; findings: file: x.py; line: 3; status: done",
  );
  expect(describeModels({ fast: "embedded", strong: "embedded" })).toBe("embedded");
  expect(describeModels({ fast: "a", strong: "b" })).toBe("fast a, strong b");
});

test("what was wrong with a row is said in words", () => {
  expect(nameComplaint("refused: not refused")).toBe("it was answered, and ought to be refused");
  expect(nameComplaint("refused: refused as ambiguous_input")).toBe("it was refused for another reason than expected: ambiguous input");
  expect(nameComplaint("facts: not found: 911")).toBe("facts: not found: 911");
});
