/** What was written and not sent yet: it is there again when the visitor comes back from another page. */

import { useState } from "preact/hooks";

const kept = new Map<string, unknown>();

/** Return what was written at a place, and a function that writes there. */
export function useKept<Written>(place: string, initial: Written): [Written, (next: Written) => void] {
  const [value, setValue] = useState(() => (kept.has(place) ? (kept.get(place) as Written) : initial));
  const write = (next: Written) => {
    kept.set(place, next);
    setValue(next);
  };
  return [value, write];
}

/** Forget all, as for the next user. */
export const forgetKept = (): void => kept.clear();
