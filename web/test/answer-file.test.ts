import { expect, test } from "vitest";
import { writeAnswer } from "../src/model/answer-file";
import { nameFile } from "../src/model/save-file";
import { makeEvent, makeReport, makeTask, makeTrace } from "./samples";

test("an answer is saved with columns in words, and the number of its proof behind the last figure of each claim", () => {
  const claim = { text: "company: Alpha; price_usd 2023-12-29: 24; price_usd 2024-12-31: 31", source: "a.csv", proof: "computed" as const };
  const report = makeReport("a", { claims: [claim] });
  const text = "| company | price_usd 2023-12-29 | price_usd 2024-12-31 |\n|---|---|---|\n| Alpha | 24 | 31 |\n\n> Alpha: 24";
  const answer = { text, gaps: ["No figure for 2022."], sources: ["a.csv"] };
  const trace = makeTrace({
    tasks: [{ ...makeTask("a"), status: "completed", report }],
    events: [makeEvent(1, "request"), makeEvent(9, "answer", { answer, status: "partial" })],
  });

  expect(writeAnswer(trace).split("\n\n")).toEqual([
    "# What?",
    "| company | price 2023-12-29 (USD) | price 2024-12-31 (USD) |\n|---|---|---|\n| Alpha | 24 | 31 [1] |",
    "> Alpha: 24",
    "## What is missing",
    "- No figure for 2022.",
    "## Sources",
    "- a.csv",
    "## Proofs",
    "[1] company: Alpha; price 2023-12-29 (USD): 24; price 2024-12-31 (USD): 31 (a.csv, computed)\n",
  ]);
});

test("a saved answer lists the proofs that no figure carries, and marks a row at its last cell", () => {
  const row = { text: "medicine: Carprofen 50 mg; supplier: Nordvet", source: "a.csv", proof: "quoted" as const };
  const passage = { text: "Kennel cough is a cough that dogs have after they met other dogs.", source: "b.md", proof: "quoted" as const };
  const answer = { text: "| medicine | supplier |\n|---|---|\n| Carprofen 50 mg | Nordvet |", gaps: [], sources: ["a.csv"] };
  const trace = makeTrace({
    tasks: [{ ...makeTask("a"), status: "completed", report: makeReport("a", { claims: [row, passage] }) }],
    events: [makeEvent(1, "request"), makeEvent(9, "answer", { answer, status: "done" })],
  });

  const saved = writeAnswer(trace);

  expect(saved).toContain("| Carprofen 50 mg | Nordvet [1] |");
  expect(saved).toContain("\n\n- Kennel cough is a cough");
});

test("a proof is one quoted line, whatever Markdown its passage holds", () => {
  const text = "## 3. Boiler\n\nEleven tubes:\n- left\n- right\n### Costs\nNone.";
  const claims = [{ text, quotation: text, source: "a.md", proof: "quoted" as const }, { text, source: "b.md", proof: "quoted" as const }];
  const trace = makeTrace({
    tasks: [{ ...makeTask("a"), status: "completed", report: makeReport("a", { claims }) }],
    events: [makeEvent(1, "request"), makeEvent(9, "answer", { answer: { text: "See there.", gaps: [], sources: [] }, status: "done" })],
  });

  const shown = "“3. Boiler / Eleven tubes: - left - right Costs None.”";

  expect(writeAnswer(trace).split("## Proofs\n\n")[1]).toBe(`- ${shown} (a.md, quoted)\n- ${shown} (b.md, quoted)\n`);
});

test.each([
  [{ request: "Which club has the highest total distance?\nAnd why?" }, "which-club-has-the-highest-total-distance-and-why"],
  [{ request: "Which boats had no hull check, or the last check before 2024?" }, "which-boats-had-no-hull-check-or-the-last-check-before"],
  [{ request: "Größte Umsätze 2024" }, "größte-umsätze-2024"],
  [{ request: "???", thread: "01a2-b" }, "01a2-b"],
])("a file is named after its request: %o", (run, name) => expect(nameFile({ status: "done", ...run })).toBe(name));
