import { useState } from "preact/hooks";
import { formatCount } from "../model/format";
import { showHidden } from "../model/plain-text";

interface LongTextProps {
  text: string;
  /** Characters that are shown until the reader asks for more. */
  max?: number;
  /** In a font of equal widths, its spaces kept. */
  isCode?: boolean;
}

/** Untrusted text of any length: its beginning, and the whole of it on demand. */
export function LongText({ text, max = 1200, isCode = false }: LongTextProps) {
  const [isWhole, setWhole] = useState(false);
  const isCut = text.length > max && !isWhole;
  const shown = showHidden(isCut ? text.slice(0, max) : text);
  return (
    <div class="long-text">
      {isCode ? (
        <pre tabIndex={0}><bdi>{shown}</bdi></pre>
      ) : (
        <p class="lines" dir="auto">{shown}</p>
      )}
      {isCut && (
        <button type="button" class="no-print" onClick={() => setWhole(true)}>
          Show all {formatCount(text.length)} characters
        </button>
      )}
    </div>
  );
}
