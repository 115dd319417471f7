import { useEffect, useMemo, useState } from "preact/hooks";
import { listSources, type Source, type SourcedClaim } from "../model/sources";
import type { Trace } from "../model/trace";
import { ProofMark } from "./proof-mark";
import { Quotation } from "./quotation";
import { TaskLink } from "./task-link";
import { Line, Text } from "./text";

const MAX_CLAIMS = 30;
const MAX_SOURCES = 50;

/** The sources of the answer and of the claims, with what is quoted from them, in place. */
export function SourcesSection({ trace }: { trace: Trace }) {
  const sources = useMemo(() => listSources(trace), [trace]);
  const [shown, setShown] = useState(MAX_SOURCES);
  useOpenedSource((number) => setShown((before) => Math.max(before, number)));
  return (
    <div class="sources">
      {sources.slice(0, shown).map((source) => (
        <SourceDetails key={source.anchor} source={source} />
      ))}
      {sources.length > shown && (
        <button type="button" onClick={() => setShown(shown + MAX_SOURCES)}>
          Show more of {sources.length} sources
        </button>
      )}
    </div>
  );
}

/** Open the source that a pressed link of the page leads to; `show` makes sure that it is there. */
function useOpenedSource(show: (number: number) => void): void {
  useEffect(() => {
    const open = (event: MouseEvent) => {
      const link = event.target instanceof Element ? event.target.closest('a[href^="#source-"]') : null;
      const anchor = link?.getAttribute("href")?.slice(1);
      if (!anchor) return;
      show(Number(anchor.slice("source-".length)));
      // After the source was drawn, where it was not.
      setTimeout(() => {
        const source = document.getElementById(anchor);
        if (source instanceof HTMLDetailsElement) source.open = true;
        source?.scrollIntoView({ block: "start" });
      });
    };
    document.addEventListener("click", open);
    return () => document.removeEventListener("click", open);
  }, []);
}

/** A source; what is quoted from it is drawn when it is opened. */
function SourceDetails({ source }: { source: Source }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details id={source.anchor} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <strong>
          <Line max={160}>{source.name}</Line>
        </strong>{" "}
        <span class="soft small">
          {source.isUsed ? "used in the answer" : "not named by the answer"} · {countClaims(source.claims.length)}
        </span>
      </summary>
      {isOpen && <SourceClaims claims={source.claims} />}
    </details>
  );
}

/** The claims from one source, with its quotations in place. */
export const SourceClaims = ({ claims }: { claims: SourcedClaim[] }) => (
  <>
    {claims.length === 0 && <p class="soft">No task has made a claim from it.</p>}
    <ul class="claims">
      {claims.slice(0, MAX_CLAIMS).map((claim, index) => (
        <li key={index}>
          <ClaimText claim={claim} />
        </li>
      ))}
    </ul>
    {claims.length > MAX_CLAIMS && <p class="soft">The other {claims.length - MAX_CLAIMS} are with their tasks.</p>}
  </>
);

const ClaimText = ({ claim }: { claim: SourcedClaim }) => (
  <>
    <p>
      <Text>{claim.text}</Text> <ProofMark proof={claim.proof} /> <TaskLink path={claim.task} />
    </p>
    {claim.passage ? (
      <figure>
        <Quotation passage={claim.passage} />
        <figcaption class="soft small">
          {claim.passage.line ? `Line ${claim.passage.line} of ` : "From "}
          <Text>{claim.passage.from}</Text>
        </figcaption>
      </figure>
    ) : (
      claim.quotation && (
        <figure>
          <blockquote>
            <mark>
              <Text>{claim.quotation}</Text>
            </mark>
          </blockquote>
          <figcaption class="soft small">The trace does not hold the text around this quotation.</figcaption>
        </figure>
      )
    )}
  </>
);

const countClaims = (count: number): string => (count === 1 ? "1 claim" : `${count} claims`);
