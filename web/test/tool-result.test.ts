import { expect, test } from "vitest";
import { listResult, readUsed, readWidths, selectGroup } from "../src/model/tool-result";

const writeResult = (text: string) => listResult(text).join("\n");

test("a table that a tool answered is shown row by row", () => {
  const table = { columns: ["company", "usd"], rows: [["Alpha", 3.5], ["Beta", null]], table: "caps.csv" };

  expect(writeResult(JSON.stringify(table))).toBe("company: Alpha; usd: 3.5\ncompany: Beta; usd: null\ntable: caps.csv");
});

test("lists and nested values become lines with their names, prose without one", () => {
  expect(writeResult('{"passages": [{"text": "One.\\nTwo.", "source": "a.md"}], "gaps": []}')).toBe("One.\nTwo.\nsource: a.md");
});

test.each(["plain text", "", "[not json", '{"cut": "of'])("what is no JSON stays as it is: %s", (text) => {
  expect(writeResult(text)).toBe(text);
});

test("the rows that a figure was computed of are read; an answer without them, or cut, has none", () => {
  const answer = JSON.stringify({ rows: [[30]], used: { columns: ["day", "eur"], rows: [["Mon", 10], [null, 20]], count: 17 } });

  expect(readUsed(answer)).toEqual([{ columns: ["day", "eur"], cells: [["Mon", "10"], ["–", "20"]], count: 17 }]);
  for (const other of [answer.slice(0, 60), "{}", "text", '{"used": 7}', '{"used": [null, 7]}']) expect(readUsed(other)).toEqual([]);
});

test("of a request of several parts each has its own rows", () => {
  const answer = JSON.stringify({ used: [{ columns: ["eur"], rows: [[10]], count: 1, of: ["sum of eur: 10"] }, { columns: ["kg"], rows: [[7]], count: 1, of: ["sum of kg: 7"] }] });

  expect(readUsed(answer).map(({ cells, of }) => [cells, of])).toEqual([[[["10"]], ["sum of eur: 10"]], [[["7"]], ["sum of kg: 7"]]]);
});

test("a row of groups is computed of the rows of its group; of one figure they are all", () => {
  const answer = JSON.stringify({ used: { columns: ["day", "farm", "eur"], rows: [["Mon", "A", 10], ["Tue", "B", 20], ["Wed", "A", 5]], count: 3, by: "farm" } });
  const used = readUsed(answer)[0]!;

  expect(selectGroup(used, { columns: ["farm", "sum of eur"], cells: ["A", "15"] })).toMatchObject({ cells: [["Mon", "A", "10"], ["Wed", "A", "5"]], count: 2 });
  expect(selectGroup({ ...used, counts: [["A", 7]] }, { columns: ["farm", "sum of eur"], cells: ["A", "15"] })).toMatchObject({ count: 7 });
  expect(selectGroup({ ...used, by: undefined }, null).cells).toHaveLength(3);
});

test("rows that are no lists are no table", () => {
  expect(writeResult('{"columns": ["a"], "rows": [1]}')).toBe("columns: a\nrows: 1");
});

test("what is nested very deeply does not end the page", () => {
  expect(writeResult("[".repeat(50) + "]".repeat(50))).toContain("[[");
  expect(writeResult("[".repeat(100_000))).toContain("[[");
});

test("a row's text leaves out empty cells, and its row tells how many columns there are", () => {
  const answer = JSON.stringify({ rows: [["Ann", null, 90], ["Bea", null, null]], results: [{ text: "name: Ann; fee: 90" }, { text: "name: Bea" }] });

  expect(readWidths(answer)).toEqual([["name: Ann; fee: 90", 3], ["name: Bea", 3]]);
  for (const other of [answer.slice(0, 60), "{}", "text", '{"results": [{"text": "One."}]}', '{"results": 7}']) expect(readWidths(other)).toEqual([]);
});
