/** Which page is shown: `#/runs/THREAD`, and so on. */

import { useRef, useState } from "preact/hooks";
import { useListener } from "../parts/use-listener";

/** The parts of a route; none for the first page. */
export const readRoute = (hash: string): string[] =>
  hash.startsWith("#/") ? hash.slice(2).split("/").filter(Boolean).map(decodePart) : [];

export const linkTo = (...parts: string[]): string => `#/${parts.map(encodeURIComponent).join("/")}`;

/** Return whether there is a page of this route. */
export const isPage = ([path = "", first, second]: readonly string[]): boolean =>
  path === "compare" ? Boolean(first && second) : ["", "start", "runs", "teams"].includes(path);

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Return the route; a link to a section of the page leaves it as it is. */
export function useRoute(): string[] {
  const [route, setRoute] = useState(() => readRoute(location.hash));
  const last = useRef(location.hash);
  useListener("hashchange", () => {
    if (location.hash.startsWith("#/") || !location.hash) {
      last.current = location.hash;
      setRoute(readRoute(location.hash));
      scrollTo(0, 0);
      document.getElementById("main")?.focus({ preventScroll: true });
    } else {
      history.replaceState(null, "", last.current || "#/");
    }
  });
  useListener("click", ({ target }) => {
    // The part of the page that it is about may be out of view.
    const { hash } = (target as Element).closest("a") ?? {};
    if (hash && hash === location.hash) dispatchEvent(new HashChangeEvent("hashchange"));
  });
  return route;
}
