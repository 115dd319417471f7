import { useMemo, useState } from "preact/hooks";
import { renderLine, renderMarkdown } from "../model/markdown";
import type { Source, SourcedClaim } from "../model/sources";

const MAX_CHARS = 200_000;
/** Of a folded text, what is drawn: to draw all of it takes seconds. */
const MAX_FOLDED_CHARS = 20_000;

interface FoldedTextProps {
  text: string;
  sources?: readonly Source[] | undefined;
  claims?: readonly SourcedClaim[] | undefined;
  /** Longer texts are folded until the reader opens them. */
  maxChars: number;
}

/** Untrusted Markdown, of which only the beginning is seen where it is long. */
export function FoldedText({ text, sources, claims, maxChars }: FoldedTextProps) {
  const [isFolded, setFolded] = useState(text.length > maxChars);
  return (
    <div>
      <div class={isFolded ? "is-folded" : ""}>
        <MarkdownText text={isFolded ? text.slice(0, MAX_FOLDED_CHARS) : text} sources={sources} claims={claims} />
      </div>
      {isFolded && (
        <button type="button" class="no-print" onClick={() => setFolded(false)}>Show the whole text</button>
      )}
    </div>
  );
}

/** Untrusted Markdown; names of sources are links that open them, and claims have a mark. */
export function MarkdownText({ text, sources, claims }: Omit<FoldedTextProps, "maxChars">) {
  const html = useMemo(() => renderMarkdown(text.slice(0, MAX_CHARS), sources, claims), [text, sources, claims]);
  return (
    <>
      {/* markdown-it escapes all markup of the text; its links lead to http(s) or to this page's sources. */}
      <div class="markdown" dir="auto" dangerouslySetInnerHTML={{ __html: html }} />
      {text.length > MAX_CHARS && <p class="soft">Cut after {MAX_CHARS} characters.</p>}
    </>
  );
}

/** Untrusted Markdown of one paragraph. */
export function MarkdownLine({ text }: { text: string }) {
  const html = useMemo(() => renderLine(text.slice(0, MAX_CHARS)), [text]);
  // As above: markdown-it escapes all markup of the text.
  return <bdi dangerouslySetInnerHTML={{ __html: html }} />;
}
