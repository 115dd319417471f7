import { useState } from "preact/hooks";
import { isWithoutModel } from "../model/estimate";
import { countOf } from "../model/format";
import { listSources, type Source, type SourcedClaim } from "../model/sources";
import type { Trace } from "../model/trace";
import { ClaimList } from "./claim-list";
import { Line } from "./text";
import { useListener } from "./use-listener";

const MAX_CLAIMS = 30;
const MAX_SOURCES = 50;
/** Quotations that are read at once: up to so many characters. */
const MAX_OPEN_CHARS = 1500;

const countChars = ({ claims }: Source): number => claims.reduce((sum, { text, quotation }) => sum + text.length + quotation.length, 0);

/** The sources of the answer and of the claims, with what is quoted from them, in place; folded where the answer itself is what was found. */
export function SourcesSection({ trace }: { trace: Trace }) {
  const sources = listSources(trace);
  const isShort = !isWithoutModel(trace) && sources.reduce((sum, source) => sum + countChars(source), 0) <= MAX_OPEN_CHARS;
  const hasUsed = sources.some(({ isUsed }) => isUsed);
  const [shown, setShown] = useState(MAX_SOURCES);
  // A link may lead to a source that is not drawn yet.
  useListener("click", ({ target }) => {
    const anchor = target instanceof Element && target.closest('a[href^="#source-"]')?.getAttribute("href");
    if (anchor) setShown((before) => Math.max(before, Number(anchor.slice("#source-".length))));
  }, true);
  return (
    <div class="sources">
      {sources.slice(0, shown).map((source) => (
        <SourceDetails key={source.anchor} source={source} isShort={isShort} note={hasUsed && !source.isUsed ? "not named by the answer" : ""} />
      ))}
      {sources.length > shown && (
        <button type="button" onClick={() => setShown(shown + MAX_SOURCES)}>
          Show more of {sources.length} sources
        </button>
      )}
    </div>
  );
}

/** A source; what is quoted from it is drawn when it is opened. */
function SourceDetails({ source, isShort, note }: { source: Source; isShort: boolean; note: string }) {
  const [isOpen, setOpen] = useState(isShort && source.claims.length > 0);
  return (
    <details id={source.anchor} open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <strong><Line max={160}>{source.name}</Line></strong>{" "}
        <span class="soft small">{[source.claims.length && countOf(source.claims.length, "claim"), note].filter(Boolean).join(" · ")}</span>
      </summary>
      {isOpen && <SourceClaims claims={source.claims} />}
    </details>
  );
}

/** The claims from one source, with its quotations in place. */
export const SourceClaims = ({ claims }: { claims: SourcedClaim[] }) => (
  <>
    {claims.length === 0 && <p class="soft">No task has made a claim from it.</p>}
    <ClaimList claims={claims.slice(0, MAX_CLAIMS)} />
    {claims.length > MAX_CLAIMS && <p class="soft">The other {claims.length - MAX_CLAIMS} are with their tasks.</p>}
  </>
);
