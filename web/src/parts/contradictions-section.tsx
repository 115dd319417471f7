import { useMemo } from "preact/hooks";
import { findPrevailing, listContradictions, type Contradiction } from "../model/answer";
import { listSources, nameDocument, type Source } from "../model/sources";
import type { Trace } from "../model/trace";
import { Quotation } from "./quotation";
import { TaskLink } from "./task-link";
import { Text } from "./text";

/** Claims that cannot all hold: both sides, and what was decided. */
export function ContradictionsSection({ trace }: { trace: Trace }) {
  const [found, sources] = useMemo(() => [listContradictions(trace), listSources(trace)] as const, [trace]);
  return (
    <div class="contradictions">
      {found.map((contradiction, index) => (
        <ContradictionCard key={index} contradiction={contradiction} sources={sources} />
      ))}
    </div>
  );
}

function ContradictionCard({ contradiction, sources }: { contradiction: Contradiction; sources: Source[] }) {
  const { subject, claims, verdict } = contradiction;
  const prevailing = findPrevailing(verdict);
  return (
    <article class="card-box box">
      <h3><Text>{subject}</Text></h3>
      <ul class="sides bare">
        {claims.map((claim, index) => {
          const source = sources.find(({ name }) => name === nameDocument(claim.source ?? ""));
          const known = source?.claims.find(({ text }) => text === claim.text);
          const outcome = prevailing < 0 ? "" : prevailing === index ? "state-done" : "state-failed";
          return (
            <li key={index} class={`side box ${outcome}`}>
              {prevailing >= 0 && <p class="side-outcome small">{prevailing === index ? "✓ holds" : "✕ does not hold"}</p>}
              <p><Text>{claim.text}</Text></p>
              {(known?.passage || claim.quotation) && <Quotation passage={known?.passage ?? { quote: claim.quotation! }} />}
              <p class="soft small">
                {source ? (
                  <a href={`#${source.anchor}`}>
                    <Text>{claim.source}</Text>
                  </a>
                ) : (
                  <Text>{claim.source || "no source named"}</Text>
                )}
                {known && (
                  <>
                    {" "}
                    · <TaskLink path={known.task} />
                  </>
                )}
              </p>
            </li>
          );
        })}
      </ul>
      <p class="verdict">
        <strong>{prevailing < 0 ? "Not decided" : "Decided"}:</strong> <Text>{verdict || "no judge was asked"}</Text>
      </p>
    </article>
  );
}
