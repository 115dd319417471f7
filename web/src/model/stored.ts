/** What a browser keeps by name; one that stores nothing keeps it until a reload. */

type Area = "localStorage" | "sessionStorage";

const unstored = new Map<string, string>();

/** Return what a call of a storage returns; null where a browser does not permit it. */
function attempt<Result>(area: Area, call: (storage: Storage) => Result): Result | null {
  try {
    return call(globalThis[area]);
  } catch {
    return null;
  }
}

/** Return what is kept under a name; empty for nothing. */
export const readStored = (area: Area, name: string): string => unstored.get(name) ?? attempt(area, (storage) => storage.getItem(name)) ?? "";

/** Keep a text under a name; an empty one is forgotten. */
export function store(area: Area, name: string, text: string): void {
  unstored.delete(name);
  const isStored = attempt(area, (storage) => (text ? storage.setItem(name, text) : storage.removeItem(name), true));
  if (!isStored) unstored.set(name, text);
}

/** Forget what is kept under all names that begin so. */
export function forgetStored(area: Area, beginning: string): void {
  const names = [...unstored.keys(), ...(attempt(area, Object.keys) ?? [])];
  for (const name of names) if (name.startsWith(beginning)) store(area, name, "");
}
