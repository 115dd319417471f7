import MarkdownIt, { type Token } from "markdown-it";
import { showHidden } from "./plain-text";
import type { Source } from "./sources";

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

/** Return untrusted Markdown as HTML without markup of its own; names of sources lead to them. */
export function renderMarkdown(text: string, sources: readonly Source[] = []): string {
  const tokens = markdown.parse(showHidden(text), {});
  const anchors = new Map(sources.map(({ name, anchor }) => [name, anchor]));
  const names = [...anchors.keys()].filter((name) => name.length >= MIN_NAME_CHARS);
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

function buildPattern(names: string[]): RegExp {
  const longestFirst = names.sort((one, other) => other.length - one.length);
  const words = longestFirst.map((name) => name.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  return new RegExp(`(?<![\\p{L}\\p{N}_/.-])(?:${words.join("|")})(?![\\p{L}\\p{N}_/-])`, "u");
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
  const divided: Token[] = [];
  let left = token.content;
  for (let found = pattern.exec(left); found; found = pattern.exec(left)) {
    const [name] = found;
    const open = copyToken(token, { type: "link_open", tag: "a", nesting: 1, content: "" });
    open.attrSet("href", `#${anchors.get(name)}`);
    divided.push(
      copyToken(token, { content: left.slice(0, found.index) }),
      open,
      copyToken(token, { content: name }),
      copyToken(token, { type: "link_close", tag: "a", nesting: -1, content: "" }),
    );
    left = left.slice(found.index + name.length);
  }
  return [...divided, copyToken(token, { content: left })].filter(({ type, content }) => content || type !== token.type);
}

const copyToken = (token: Token, change: Partial<Token>): Token =>
  Object.assign(Object.create(Object.getPrototypeOf(token) as object) as Token, token, { attrs: null }, change);
