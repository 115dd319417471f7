import { expect, test } from "vitest";
import { renderMarkdown } from "../src/model/markdown";
import { placeMarks, readClaims } from "../src/model/proof-marks";
import type { SourcedClaim } from "../src/model/sources";
import type { Proof } from "../src/model/trace";

const makeClaim = (text: string, proof: Proof | null = "quoted"): SourcedClaim => ({ task: "a", text, source: "a.md", quotation: "", proof, doubt: "", passage: null, used: null });

/** Return what is before each mark, with the index of its claim. */
const mark = (text: string, ...claims: SourcedClaim[]) => placeMarks(text, readClaims(claims)).map(({ end, claim }) => [text.slice(0, end).split(/[ (]/).at(-1), claim]);

test("a claim that is said has its mark behind it", () => {
  expect(mark("In short, Alpha made 24 million. So it grew.", makeClaim("Alpha made 24 million."))).toEqual([["million", 0]]);
});

test("a figure of a claim has a mark where the sentence is about the same", () => {
  const claims = [makeClaim("The revenue of Alpha was 1250.5"), makeClaim("The revenue of Beta was 99")];

  expect(mark("Alpha reached 1,250.5 (million). Beta reached 99.", ...claims)).toEqual([
    ["1,250.5", 0],
    ["99", 1],
  ]);
});

test("a sentence that a quotation has word for word has its mark; one in other words has none", () => {
  const claim = { ...makeClaim("The warranty has limits."), quotation: "Repairs carry a warranty.\nIt does not cover needles, belts and bulbs." };

  expect(mark("It does not cover needles, belts and bulbs. It never covers glass.", claim)).toEqual([["bulbs", 0]]);
  expect(mark("It does not cover needles, belts and bulbs.", { ...claim, text: claim.quotation })).toEqual([]);
});

test.each([
  ["a figure of another subject", "Gamma reached 1,250."],
  ["a year", "Alpha was founded in 1998."],
  ["another year", "Alpha reached 1,250 in 2019."],
  ["a part of a date or a version", "Alpha has 2024-12-50 and v12 and 12:50."],
  ["a figure of one digit", "Alpha has 7 seats."],
])("%s has no mark", (_, text) => {
  expect(mark(text, makeClaim("Alpha reached 1250 in 2024 with 7, 12 and 50; 1998"))).toEqual([]);
});

test.each([
  ["3,738", [["3,738", 0]]],
  ["3,738.3", [["3,738.3", 0]]],
  ["3,739", []],
])("a figure that is rounded, as %s of 3738.31, has the mark of the exact one", (written, marks) => {
  expect(mark(`The sum of Alpha is ${written}.`, makeClaim("sum of Alpha: 3738.31", "computed"))).toEqual(marks);
});

test("a value with a unit behind the colon of its label has its mark", () => {
  expect(mark("Sum of lock fee (where month = 2025-06): 53 EUR.", makeClaim("sum of lock_fee_eur: 53", "computed"))).toEqual([["EUR", 0]]);
});

test("a value of one digit has the mark of the only claim that ends in it", () => {
  const count = makeClaim("count: 3", "computed");

  expect(mark("Number of rows (swarmed): 3.\nFrom a.csv; 3 of 12 rows used.", count)).toEqual([["3", 0]]);
  expect(mark("Number of rows (swarmed): 3.", count, makeClaim("sum of frames: 3", "computed"))).toEqual([]);
  expect(mark("Number of rows (swarmed): 4.", count)).toEqual([]);
});

test("in a row of a table each figure has the mark of the claim whose cells it has, also one of one digit", () => {
  const claims = readClaims([makeClaim("day: 2025-06-03; fee_eur: 6.0", "computed"), makeClaim("day: 2025-06-04; fee_eur: 6.0", "computed"), makeClaim("count: 6", "computed")]);

  expect(placeMarks(" 6 ", claims, "2025-06-04 6")).toEqual([{ end: 2, claim: 1 }]);
  expect(placeMarks(" 6 ", claims, "2025-06-05 6")).toEqual([]);
  expect(placeMarks(" 2025-06-04 ", claims, "2025-06-04 6")).toEqual([]);
});

test("a listed row has one mark, at its last cell that is not empty, and that of its own claim", () => {
  const claims = [makeClaim("job: R-10; machine: Bernina 830; price: 12"), makeClaim("job: R-1; machine: Bernina 830; price: 1200"), makeClaim("job: R-7; machine: Bernina 930")];
  const html = renderMarkdown("| job | machine | price |\n|---|---|---|\n| R-1 | Bernina 830 | 1,200 |\n| R-10 | Bernina 830 | 12.00 |\n| R-7 | Bernina 930 | |", [], claims);

  expect([...html.matchAll(/([^>]*)<span[^>]*data-claim="(\d)"/g)].map(([, cell, claim]) => [cell, claim])).toEqual([["1,200", "1"], ["12.00", "0"], ["Bernina 930", "2"]]);
});

test("in a row of a table a figure of a name has no mark, one of a sentence has", () => {
  const claims = [makeClaim("boat: Bavaria 34; sum of booked: 11", "computed"), makeClaim("The Bavaria 34 of the school has a cap of 250,000")];
  const html = renderMarkdown("| boat | sum of booked |\n|---|---|\n| Bavaria 34 | 11 |\n| Cap of the Bavaria: 250,000 | |", [], claims);

  expect([...html.matchAll(/([^>]*)<span[^>]*data-claim="(\d)"/g)].map(([, cell, claim]) => [cell, claim])).toEqual([["11", "0"], ["Cap of the Bavaria: 250,000", "1"]]);
});

test("columns of figures are aligned as figures, those of years and words are not", () => {
  const html = renderMarkdown("| name | year | share |\n|---|---|---|\n| A | 2024 | 12.5% |\n| B | 2025 | – |");

  expect(html.match(/<t[hd] class="figure">[^<]*/g)).toEqual(['<th class="figure">share', '<td class="figure">12.5%', '<td class="figure">–']);
});

test("dates and codes are not broken, cells of words may be", () => {
  const html = renderMarkdown("| show | last aired |\n|---|---|\n| Late Brass | 2024-06-25 |\n| Quiz | |");

  expect(html).toContain('<td class="whole">2024-06-25</td>');
  expect(html).toContain("<td>Late Brass</td>");
});

test.each(["stated", null] as const)("a claim that is %s has no mark", (proof) => {
  expect(mark("Alpha made 24 million.", makeClaim("Alpha made 24 million.", proof))).toEqual([]);
});

test("in a table the row says what a figure is about; a quotation has no mark", () => {
  const claims = [makeClaim("company: Alpha; usd: 24000.5", "computed"), makeClaim("company: Beta; usd: 31.5", "unproved")];
  const html = renderMarkdown("| company | market_cap_usd 2024 |\n|---|---|\n| Alpha | 24000.5 |\n| Beta | 31.5 |\n\n> Alpha has 24000.5", [], claims);

  expect(html).toContain('<th class="figure">market cap 2024 (USD)</th>');
  expect(html).toContain('<td class="figure">24,000.5<span role="button" tabindex="0" class="mark proved" data-claim="0"');
  expect(html).toContain('<td class="figure">31.5<span role="button" tabindex="0" class="mark unproved" data-claim="1"');
  expect(html.match(/data-claim/g)).toHaveLength(2);
});

test("the name of a source cannot leave the mark", () => {
  const claim = { ...makeClaim("Alpha made 24 million."), source: '"><img src=x>' };

  expect(renderMarkdown("Alpha made 24 million.", [], [claim])).not.toContain("<img");
});

test("many claims and a long text are placed in time", () => {
  const claims = Array.from({ length: 500 }, (_, index) => makeClaim(`Product ${index} costs ${index + 1000}.5 dollars`));
  const text = claims.map(({ text }) => `- ${text}\n`).join("").repeat(4);

  expect(renderMarkdown(text, [], claims).match(/data-claim/g)!.length).toBe(2000);
});

test("figures of a German answer have marks, in sentences and in rows", () => {
  const written = (text: string): SourcedClaim => ({ ...makeClaim(text, "computed"), hasComma: true });
  const row = [written("Name: Anke Brandt; sum of Stunden: 17.5"), written("Name: Tom Reuter; sum of Stunden: 1250")];

  expect(placeMarks(" 17,5 ", readClaims(row), "Anke Brandt 17,5")).toEqual([{ end: 5, claim: 0 }]);
  expect(placeMarks(" 1.250,0 ", readClaims(row), "Tom Reuter 1.250,0")).toEqual([{ end: 8, claim: 1 }]);
  expect(mark("Durchschnitt von Stunden: 17,5.", written("average of Stunden: 17.5"))).toEqual([["17,5", 0]]);
});

test("a figure that says where something is has no mark, and no place has two", () => {
  const claims = [makeClaim("Termination clause 12(A): notice of 30 days"), makeClaim("Termination: 30 days of notice, line 90")];

  expect(mark("Termination clause 12(A), line 90: notice of 30 days.", ...claims)).toEqual([["30", 0]]);
});
