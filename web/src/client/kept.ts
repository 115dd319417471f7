/** What was written and not sent yet: it is there again after another page, and after a reload of the tab. */

import { useState } from "preact/hooks";
import { forgetStored, readStored, store } from "../model/stored";

const STORED = "supervise-kept ";

/** Return what was written at a place; else its initial value. */
export function readKept<Written>(place: string, initial: Written): Written {
  const stored = readStored("sessionStorage", STORED + place);
  return stored ? (JSON.parse(stored) as Written) : initial;
}

/** Keep what was written at a place, in this tab. */
export const keep = (place: string, written: unknown): void => store("sessionStorage", STORED + place, JSON.stringify(written));

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
export const forgetKept = (): void => forgetStored("sessionStorage", STORED);
