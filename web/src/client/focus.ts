/** Where the keyboard is after a part of the page was replaced. */

import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";

type Focusable = HTMLElement | SVGElement;

let last: EventTarget | null = null;
if (typeof document !== "undefined") document.addEventListener("focusin", ({ target }) => (last = target));

/** Return whether what had the focus was removed, or can no longer have it. */
function isLost(): boolean {
  const isOff = last instanceof HTMLButtonElement && last.disabled;
  const isAway = last instanceof Element && !last.isConnected;
  return (isOff || isAway) && [document.body, last].includes(document.activeElement);
}

/** Return a reference to what gets the focus when it appears. */
export function useFocus<Found extends Focusable>(): RefObject<Found | null> {
  const found = useRef<Found>(null);
  useEffect(() => found.current?.focus({ preventScroll: true }), []);
  return found;
}

/** Return a reference to what gets the focus if it is lost with a change, as after an answer. */
export function useFocusBack<Found extends Focusable>(changed: unknown): RefObject<Found | null> {
  const found = useRef<Found>(null);
  useEffect(() => {
    if (isLost()) found.current?.focus({ preventScroll: true });
  }, [changed]);
  return found;
}
