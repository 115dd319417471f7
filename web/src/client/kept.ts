/** What was written and not sent yet: it is there again after another page, and after a reload of the tab. */

import { useState } from "preact/hooks";

const STORED = "supervise-kept ";
const kept = new Map<string, unknown>();

/** Return what was written at a place; else its initial value. */
export function readKept<Written>(place: string, initial: Written): Written {
  if (kept.has(place)) return kept.get(place) as Written;
  try {
    const stored = sessionStorage.getItem(STORED + place);
    return stored === null ? initial : (JSON.parse(stored) as Written);
  } catch {
    return initial;
  }
}

/** Keep what was written at a place, in this tab. */
export function keep(place: string, written: unknown): void {
  kept.set(place, written);
  try {
    sessionStorage.setItem(STORED + place, JSON.stringify(written));
  } catch {
    // It is kept until a reload.
  }
}

/** Return what was written at a place, and a function that writes there. */
export function useKept<Written>(place: string, initial: Written): [Written, (next: Written) => void] {
  const [value, setValue] = useState(() => readKept(place, initial));
  const write = (next: Written) => {
    keep(place, next);
    setValue(next);
  };
  return [value, write];
}

/** Forget all, as for the next user. */
export function forgetKept(): void {
  kept.clear();
  try {
    for (const key of Object.keys(sessionStorage)) if (key.startsWith(STORED)) sessionStorage.removeItem(key);
  } catch {
    // Nothing was stored.
  }
}
