import type { ComponentChildren, TargetedEvent } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { listClaims, listSources, nameDocument } from "../model/sources";
import type { Trace } from "../model/trace";
import { ClaimList } from "./claim-list";
import { Line } from "./text";
import { useListener } from "./use-listener";

interface Shown {
  claim: number;
  mark: HTMLElement;
  /** It stays until it is closed. */
  isKept: boolean;
}

const CARD = "proof-card";
const LEAVE_MS = 200;
const CARD_PX = 416;
/** Of a card below a table, at least in sight. */
const CARD_SEEN_PX = 160;

/** A text with marks, and what is behind the mark under the pointer, in focus, or pressed. */
export function Proofs({ trace, children }: { trace: Trace; children: ComponentChildren }) {
  const [shown, setShown] = useState<Shown | null>(null);
  const frame = useRef<HTMLDivElement>(null);
  const leaving = useRef(0);
  const show = (event: TargetedEvent<HTMLElement>, isKept = false) => {
    const target = event.target as HTMLElement;
    if (target.closest(`#${CARD}`)) return clearTimeout(leaving.current);
    const mark = target.closest<HTMLElement>("[data-claim]");
    if (!mark) return;
    clearTimeout(leaving.current);
    setShown((before) => (before?.mark === mark ? { ...before, isKept: before.isKept || isKept } : { mark, claim: Number(mark.dataset["claim"]), isKept }));
  };
  const leave = () => {
    clearTimeout(leaving.current);
    leaving.current = window.setTimeout(() => setShown((before) => (before?.isKept ? before : null)), LEAVE_MS);
  };
  const press = (event: KeyboardEvent & TargetedEvent<HTMLElement>) => {
    if (!["Enter", " "].includes(event.key) || !(event.target as HTMLElement).matches("[data-claim]")) return;
    event.preventDefault();
    show(event, true);
  };
  useEffect(() => {
    shown?.mark.setAttribute("aria-describedby", CARD);
    const table = frame.current?.querySelector(`#${CARD} [role=region]`);
    table?.scrollTo({ left: table.scrollWidth }); // the figure's column is the last
    return () => shown?.mark.removeAttribute("aria-describedby");
  }, [shown]);
  useListener("keydown", ({ key }) => key === "Escape" && setShown(null));
  useListener("pointerdown", ({ target }) => target instanceof Element && !target.closest(`#${CARD}, [data-claim]`) && setShown(null));
  const claim = shown && listClaims(trace)[shown.claim];
  const source = claim && listSources(trace).find(({ name }) => name === nameDocument(claim.source));
  return (
    <div class="proofs" ref={frame} onPointerOver={show} onPointerOut={leave} onFocusIn={show} onFocusOut={leave} onClick={(event) => show(event, true)} onKeyDown={press}>
      {children}
      {claim && (
        <div id={CARD} role="group" aria-label="Proof" style={placeCard(shown.mark, frame.current!)}>
          {source && (
            <p>
              <a href={`#${source.anchor}`} onClick={() => setShown(null)}>
                <Line max={80}>{claim.source}</Line>
              </a>
            </p>
          )}
          <ClaimList claims={[claim]} />
        </div>
      )}
    </div>
  );
}

/** Return a place below the mark, within its frame; of a mark in a table beside the table, or below it, so that its rows stay in sight. */
function placeCard(mark: HTMLElement, frame: HTMLElement) {
  const [at, around] = [mark.getBoundingClientRect(), frame.getBoundingClientRect()];
  const table = mark.closest(".table-frame, table")?.querySelector("tbody")?.getBoundingClientRect();
  const right = (table?.right ?? Infinity) + 12 - around.left;
  if (around.left + right + CARD_PX <= document.documentElement.clientWidth) return { left: `${right}px`, top: `${at.top - around.top - 12}px` };
  const left = Math.max(0, Math.min(at.left - around.left - 24, around.width - CARD_PX));
  const bottom = table && table.bottom + CARD_SEEN_PX < innerHeight ? table.bottom : at.bottom;
  return { left: `${left}px`, top: `${bottom - around.top + 6}px` };
}
