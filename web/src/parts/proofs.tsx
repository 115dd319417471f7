import type { ComponentChildren, TargetedEvent } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
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
const BORDER_PX = 1;
/** Between a card and the window's edge. */
const EDGE_PX = 8;

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
  useLayoutEffect(() => {
    const card = frame.current?.querySelector<HTMLElement>(`#${CARD}`);
    if (shown && card) Object.assign(card.style, placeCard(card, shown.mark, frame.current!));
    shown?.mark.setAttribute("aria-describedby", CARD);
    const table = card?.querySelector("[role=region]");
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
        <div id={CARD} role="group" aria-label="Proof">
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

/** Return a place at the mark, within the window; of a mark in a table beside the table, else below or above it where there is room, so that its rows stay in sight. */
function placeCard(card: HTMLElement, mark: HTMLElement, frame: HTMLElement) {
  const [at, around] = [mark.getBoundingClientRect(), frame.getBoundingClientRect()];
  const table = mark.closest(".table-frame, table")?.querySelector("tbody")?.getBoundingClientRect();
  const height = card.scrollHeight + 2 * BORDER_PX;
  const roomOf = (above: number, below: number) => [above - EDGE_PX, innerHeight - below - EDGE_PX] as const;
  const place = (above: number, below: number) => {
    const [roomAbove, roomBelow] = roomOf(above, below);
    if (height <= roomBelow || roomBelow >= roomAbove) return { top: `${below - around.top}px`, bottom: "auto", maxHeight: `min(24rem, ${roomBelow}px)` };
    return { top: "auto", bottom: `${around.bottom - above}px`, maxHeight: `min(24rem, ${roomAbove}px)` };
  };
  const right = (table?.right ?? Infinity) + 12 - around.left;
  if (around.left + right + card.offsetWidth + EDGE_PX <= document.documentElement.clientWidth) return { left: `${right}px`, ...place(at.bottom + 12, at.top - 12) };
  const left = Math.max(0, Math.min(at.left - around.left - 24, around.width - card.offsetWidth));
  const beside = table && Math.max(...roomOf(table.top, table.bottom)) >= height + 6 ? table : at;
  return { left: `${left}px`, ...place(beside.top - 6, beside.bottom + 6) };
}
