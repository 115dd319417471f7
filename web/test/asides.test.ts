import { afterEach, expect, test } from "vitest";
import { dropAsides, nameRemedy, reader } from "../src/model/asides";
import { readTrace } from "../src/model/read-trace";

const TRUTH = "no file is attached (on the command line: --file), and no folder is set (setting: SUPERVISE_DOCUMENTS)";

afterEach(() => {
  reader.ownsServer = true;
});

test("a page says a message without what only a terminal can do", () => {
  expect(dropAsides(TRUTH)).toBe("no file is attached, and no folder is set (setting: SUPERVISE_DOCUMENTS)");
  expect(dropAsides("The document is written: a.docx (path: /home/ana/.supervise/a.docx).")).toBe("The document is written: a.docx.");
  expect(dropAsides("ein Sprachmodell einrichten (auf der Kommandozeile: supervise doctor).")).toBe("ein Sprachmodell einrichten.");
  expect(dropAsides("sales (in euros) rose (by 3)")).toBe("sales (in euros) rose (by 3)");
});

test("a visitor of somebody else's server is told no settings", () => {
  reader.ownsServer = false;

  expect(dropAsides([TRUTH])).toEqual(["no file is attached, and no folder is set"]);
  expect(nameRemedy({ kind: "setting", name: "SUPERVISE_MODEL_FAST", text: "name a stronger one" })).toBeNull();
  expect(nameRemedy({ kind: "request", name: "the request", text: "say it there" })).not.toBeNull();
});

test.each([
  ["command", "supervise resume 1", "Resume"],
  ["command", "supervise case 1", undefined],
  ["option", "--ask", "“Limits, and what to ask me”"],
  ["file", "--file PATH", "the files of the request"],
  ["setting", "SUPERVISE_RPM", "SUPERVISE_RPM"],
])("what helps by a %s, %s, is named as the page has it", (kind, name, named) => {
  expect(nameRemedy({ kind, name, text: "…" })?.name).toBe(named);
});

test("answers, gaps, reports and errors of a trace are said for the page; what was quoted stays as it is", () => {
  const report = { task: "a", worker: "w", status: "failed", output: TRUTH, error: TRUTH, gaps: [TRUTH], escalation: { message: TRUTH }, claims: [{ text: TRUTH, quotation: TRUTH }] };
  const events = [
    { t: 0, kind: "report", task: "a", report },
    { t: 1, kind: "answer", answer: { text: TRUTH, gaps: [TRUTH], unanswered: [TRUTH] } },
    { t: 2, kind: "error", message: TRUTH },
  ];
  const trace = readTrace({ version: 1, run: { request: TRUTH }, plans: [], tasks: [{ id: "a", report }], events })!;
  const { claims, ...said } = trace.tasks[0]!.report!;

  expect(JSON.stringify([said, trace.events.slice(1)])).not.toContain("--file");
  expect(JSON.stringify(trace.events[0]!["report"])).toContain("no file is attached, and");
  expect(claims![0]!.quotation).toBe(TRUTH);
  expect(trace.run.request).toBe(TRUTH);
});
