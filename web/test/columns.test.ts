import { expect, test } from "vitest";
import { mergeColumns, placeCells, readRow, writeColumn, writeColumns, writeFigure } from "../src/model/columns";

test.each([
  ["market_cap_billion_usd 2024", "market cap 2024 (billion USD)"],
  ["market_cap_billion_usd 2023-12-29", "market cap 2023-12-29 (billion USD)"],
  ["cubic_metres_2024", "2024 (cubic metres)"],
  ["plan_name", "plan name"],
  ["sum of distance_km", "sum of distance (km)"],
  ["change in percent", "change in percent"],
  ["company", "company"],
])("the column %s is shown as %s", (name, shown) => {
  expect(writeColumn(name)).toBe(shown);
});

test.each([
  ["24000.5", "revenue_usd", "24,000.5"],
  ["-2794", "revenue_usd 2024", "-2,794"],
  ["12.1234567", "revenue_usd", "12.1234567"],
  ["90210", "zip_code", "90210"],
  ["SN10002", "weight_kg", "SN10002"],
])("the figure %s of %s is shown as %s", (text, column, shown) => {
  expect(writeFigure(text, column)).toBe(shown);
});

test("prose names columns of money in words, and leaves other names", () => {
  expect(writeColumns("Change from market_cap_billion_usd 2023 to price_eur, where timeout_s is 2 in my_price_usd.csv.")).toBe(
    "Change from market cap 2023 (billion USD) to price (EUR), where timeout_s is 2 in my_price_usd.csv.",
  );
});

test("a claim that is a row of a table is read as one; prose is not", () => {
  expect(readRow("company: Alpha; usd: 3.5")).toEqual({ columns: ["company", "usd"], cells: ["Alpha", "3.5"] });
  expect(readRow("Alpha: 3.5")).toBeNull();
  expect(readRow("It grew; by much")).toBeNull();
});

test.each([
  [["name", "joined", "fee"], ["name", "fee"], ["name", "joined", "fee"]],
  [["name", "fee"], ["name", "joined", "fee"], ["name", "joined", "fee"]],
  [["name", "joined"], ["name", "fee"], ["name", "fee", "joined"]],
  [["name", "fee"], ["fee", "name"], null],
  [["name", "fee"], ["city", "rent"], null],
])("rows with the columns %j and %j may be of one table of three: %j", (one, other, columns) => {
  expect(mergeColumns(one, other, 3)).toEqual(columns);
});

test("a row with empty cells has them below the columns of its table", () => {
  const row = readRow("name: Old Ned", 3)!;

  expect(placeCells(row, ["name", "joined", "fee"])).toEqual(["Old Ned", "–", "–"]);
});
