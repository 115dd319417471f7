import { expect, test } from "vitest";
import { renderMarkdown } from "../src/model/markdown";

const SOURCES = [
  { name: "prices.csv", anchor: "source-1", isUsed: true, claims: [] },
  { name: "my prices.csv", anchor: "source-2", isUsed: true, claims: [] },
];

test.each(["<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "a <b onclick=x>b</b>"])(
  "markup is text: %s",
  (text) => {
    expect(renderMarkdown(text)).not.toMatch(/<(script|img|b)\b/);
  },
);

test.each(["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "//host/path", "#top", "vbscript:x"])(
  "%s is no link",
  (address) => {
    expect(renderMarkdown(`[press](${address})`)).not.toContain("<a");
  },
);

test("a web address opens apart, and cannot reach this page", () => {
  expect(renderMarkdown("[site](https://example.org/)")).toContain('rel="noopener noreferrer nofollow" target="_blank"');
});

test("a picture is no element", () => {
  expect(renderMarkdown("![x](https://example.org/x.png)")).not.toContain("<img");
});

test("names of sources lead to them, the longer name first", () => {
  const html = renderMarkdown("See `prices.csv` (my prices.csv), not prices.csvx.", SOURCES);

  expect(html).toContain('<a href="#source-1"><code>prices.csv</code></a>');
  expect(html).toContain('<a href="#source-2">my prices.csv</a>');
  expect(html.match(/<a /g)).toHaveLength(2);
});

test("headings are numbered from 3 on", () => {
  expect(renderMarkdown("## One\n\n#### Two")).toMatch(/<h3>One<\/h3>\s*<h4>Two<\/h4>/);
});

test("bidirectional characters are visible", () => {
  expect(renderMarkdown("a\u202eb")).toContain("‹202E›");
});

test("the name of a source with the characters of patterns is found", () => {
  const source = { name: "a+(b)[1].md", anchor: "source-1", isUsed: true, claims: [] };

  expect(renderMarkdown("in a+(b)[1].md here", [source])).toContain('href="#source-1"');
});
