import MarkdownIt, { type Token } from "markdown-it";
import { nameKind, writeColumn, writeColumns, writeFigure } from "./columns";
import { showHidden, toLine } from "./plain-text";
import { findListed, findMarkedCell, placeMarks, readClaims } from "./proof-marks";
import type { Source, SourcedClaim } from "./sources";

/** Shorter names are as likely to be ordinary words. */
const MIN_NAME_CHARS = 3;
const WEB_ADDRESS = /^https?:\/\//i;

const markdown = new MarkdownIt({ html: false, linkify: false, typographer: false }).disable(["image"]);
markdown.validateLink = (url) => WEB_ADDRESS.test(url);
markdown.renderer.rules["table_open"] = () => '<div class="table-frame" tabindex="0" role="group" aria-label="Table"><table>\n';
markdown.renderer.rules["table_close"] = () => "</table></div>\n";
markdown.renderer.rules["link_open"] = (tokens, index, options, _env, self) => {
  const link = tokens[index]!;
  const address = String(link.attrGet("href"));
  if (!address.startsWith("#")) {
    link.attrSet("rel", "noopener noreferrer nofollow");
    link.attrSet("target", "_blank");
    link.attrSet("title", address);
  }
  return self.renderToken(tokens, index, options);
};

/** Return untrusted Markdown as HTML without markup of its own; names of sources lead to them, claims have a mark. */
export function renderMarkdown(text: string, sources: readonly Source[] = [], claims: readonly SourcedClaim[] = []): string {
  const tokens = markdown.parse(showHidden(text), {});
  const anchors = new Map(sources.map(({ name, anchor }) => [name, anchor]));
  const names = [...anchors.keys()].filter((name) => name.length >= MIN_NAME_CHARS);
  writeTables(tokens);
  if (claims.length) markClaims(tokens, claims);
  if (names.length) {
    const pattern = buildPattern(names);
    tokens.forEach((token) => linkSources(token, anchors, pattern));
  }
  shiftHeadings(tokens);
  return markdown.renderer.render(tokens, markdown.options, {});
}

/** Return one line of untrusted Markdown as HTML without markup of its own. */
export const renderLine = (text: string): string => markdown.renderInline(showHidden(text));

/** Number the headings from 3 on, without gaps: they are below the heading of the part that shows the text. */
function shiftHeadings(tokens: Token[]): void {
  const headings = tokens.filter(({ type }) => type === "heading_open" || type === "heading_close");
  const levels = [...new Set(headings.map(({ tag }) => tag))].sort();
  for (const token of headings) token.tag = `h${Math.min(6, 3 + levels.indexOf(token.tag))}`;
}

/** Write the columns and the figures of tables as people do. */
function writeTables(tokens: Token[]): void {
  let columns: string[] = [];
  let cells: Token[][] = [];
  let place = 0;
  tokens.forEach(({ type, content, children }, index) => {
    if (type === "table_open") [columns, cells] = [[], []];
    if (type === "table_close") cells.forEach(alignFigures);
    if (type === "tr_open") place = 0;
    const cell = type === "inline" ? tokens[index - 1]!.type : "";
    const only = children?.length === 1 && children[0]!.type === "text" ? children[0]! : null;
    if (cell === "th_open") {
      columns.push(content);
      cells.push([tokens[index - 1]!, tokens[index]!]);
      if (only) only.content = writeColumn(content);
    }
    if (cell === "paragraph_open") for (const child of children!) if (child.type === "text") child.content = writeColumns(child.content);
    if (type === "td_open") place += 1;
    if (cell === "td_open") cells[place - 1]?.push(tokens[index - 1]!, tokens[index]!);
    if (cell === "td_open" && only) only.content = writeFigure(content, columns[place - 1] ?? "");
  });
}

/** Put a column of figures to the right, and break no dates; its head is first, each cell before its text. */
function alignFigures(cells: Token[]): void {
  const texts = cells.slice(2).filter(({ type }) => type === "inline").map(({ content }) => content);
  const kind = nameKind(texts);
  for (const token of cells) if (kind && token.type !== "inline") token.attrs = [["class", kind]];
}

/** Put a mark behind each claim, each figure of one, and the last cell of a listed row; what is quoted has its source above it. */
function markClaims(tokens: Token[], claims: readonly SourcedClaim[]): void {
  const marked = readClaims(claims);
  let quotes = 0;
  let row: string[] = [];
  let listed: number | null = null;
  let cell = -1;
  tokens.forEach((token, index) => {
    if (token.type === "blockquote_open") quotes += 1;
    if (token.type === "blockquote_close") quotes -= 1;
    if (token.type === "tr_open") listed = findListed((row = readCells(tokens, index)), marked);
    if (token.type === "tr_close") [row, listed, cell] = [[], null, -1];
    if (token.type === "td_open") cell += 1;
    if (listed !== null && cell !== findMarkedCell(row)) return;
    if (token.type !== "inline" || quotes || tokens[index - 1]!.type === "th_open") return;
    const texts = token.children!.map(({ type, content }) => (type === "softbreak" ? "\n" : content));
    const said = texts.join("");
    const places = listed === null ? placeMarks(said, marked, row.join(" ")) : [{ end: said.length, claim: listed }];
    let start = 0;
    token.children = token.children!.flatMap((child, at) => {
      const [from, end] = [start, (start += texts[at]!.length)];
      const inside = places.filter((place) => place.end > from && place.end <= end);
      if (child.type !== "text") return [child, ...inside.map(({ claim }) => makeMark(child, claim, claims[claim]!))];
      return replaceParts(child, inside.map(({ end, claim }) => ({ from: end - from, end: end - from, by: [makeMark(child, claim, claims[claim]!)] })));
    });
  });
}

/** Return the words of a table's row, cell by cell. */
function readCells(tokens: Token[], start: number): string[] {
  const end = tokens.findIndex(({ type }, index) => index > start && type === "tr_close");
  return tokens.slice(start, end).flatMap(({ type, content }) => (type === "inline" ? [content] : []));
}

/** Return a text as tokens, with others in place of some of its parts. */
function replaceParts(token: Token, parts: readonly { from: number; end: number; by: Token[] }[]): Token[] {
  const starts = [0, ...parts.map(({ end }) => end)];
  return starts.flatMap((start, index) => [copyToken(token, { content: token.content.slice(start, parts[index]?.from) }), ...(parts[index]?.by ?? [])]);
}

function makeMark(token: Token, claim: number, { proof, source }: SourcedClaim): Token {
  const label = markdown.utils.escapeHtml(`${proof === "unproved" ? "not proved" : "proof"}: ${toLine(source, 80) || "no source"}`);
  const mark = `<span role="button" tabindex="0" class="mark ${proof === "unproved" ? "unproved" : "proved"}" data-claim="${claim}" aria-label="${label}"></span>`;
  return copyToken(token, { type: "html_inline", content: mark, children: null });
}

function buildPattern(names: string[]): RegExp {
  const longestFirst = names.sort((one, other) => other.length - one.length);
  const words = longestFirst.map((name) => name.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  return new RegExp(`(?<![\\p{L}\\p{N}_/.-])(?:${words.join("|")})(?![\\p{L}\\p{N}_/-])`, "gu");
}

function linkSources(token: Token, anchors: Map<string, string>, pattern: RegExp): void {
  let depth = 0;
  token.children &&= token.children.flatMap((child) => {
    depth += child.type === "link_open" ? 1 : child.type === "link_close" ? -1 : 0;
    const isText = child.type === "text" || child.type === "code_inline";
    return isText && !depth ? divideText(child, anchors, pattern) : [child];
  });
}

/** Return a text as tokens in which each name of a source is a link to it. */
function divideText(token: Token, anchors: Map<string, string>, pattern: RegExp): Token[] {
  const links = [...token.content.matchAll(pattern)].map(({ 0: name, index }) => {
    const open = copyToken(token, { type: "link_open", tag: "a", nesting: 1, content: "" });
    open.attrSet("href", `#${anchors.get(name)}`);
    const close = copyToken(token, { type: "link_close", tag: "a", nesting: -1, content: "" });
    return { from: index, end: index + name.length, by: [open, copyToken(token, { content: name }), close] };
  });
  return replaceParts(token, links).filter(({ type, content }) => content || type !== token.type);
}

const copyToken = (token: Token, change: Partial<Token>): Token =>
  Object.assign(Object.create(Object.getPrototypeOf(token) as object) as Token, token, { attrs: null }, change);
