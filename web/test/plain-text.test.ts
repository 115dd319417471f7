import { expect, test } from "vitest";
import { showHidden, toLine } from "../src/model/plain-text";

test("bidirectional and control characters are shown as code points", () => {
  expect(showHidden("a\u202eb\u0007c\u{e0041}")).toBe("a‹202E›b‹0007›c‹E0041›");
});

test("tabs and line breaks stay", () => {
  expect(showHidden("a\tb\r\nc")).toBe("a\tb\nc");
});

test("a line is cut between characters, and the cut is shown", () => {
  expect(toLine("one\n  two", 20)).toBe("one two");
  expect(toLine("😀".repeat(9), 4)).toBe("😀😀😀…");
});
