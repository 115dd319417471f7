import type { RefObject } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";

const EXTRA_ROWS = 12;
/** Fewer rows are all drawn. */
const MIN_ROWS = 120;

export interface VisibleRows {
  first: number;
  last: number;
}

/** Return which rows of a scrolled list to draw: those in view, and some around them. */
export function useVisibleRows(scroller: RefObject<HTMLElement | null>, count: number, rowPx: number, isPrinting: boolean): VisibleRows {
  const [shown, setShown] = useState<VisibleRows>({ first: 0, last: MIN_ROWS });
  useLayoutEffect(() => {
    const element = scroller.current!;
    const update = () => {
      // A step of some rows, so that not each pixel draws again.
      const first = Math.max(0, Math.floor(element.scrollTop / rowPx / EXTRA_ROWS) * EXTRA_ROWS - EXTRA_ROWS);
      const last = first + Math.ceil(element.clientHeight / rowPx) + 3 * EXTRA_ROWS;
      setShown((old) => (old.first === first && old.last === last ? old : { first, last }));
    };
    update();
    element.addEventListener("scroll", update, { passive: true });
    return () => element.removeEventListener("scroll", update);
  }, [scroller, rowPx]);
  return isPrinting || count <= MIN_ROWS ? { first: 0, last: count } : shown;
}
