/** Which page is shown: `#/runs/THREAD`, and so on. */

import { useEffect, useState } from "preact/hooks";

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
  useEffect(() => {
    let last = location.hash;
    const follow = () => {
      if (location.hash.startsWith("#/") || !location.hash) {
        last = location.hash;
        setRoute(readRoute(last));
        scrollTo(0, 0);
        document.getElementById("main")?.focus({ preventScroll: true });
      } else {
        history.replaceState(null, "", last || "#/");
      }
    };
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  return route;
}
