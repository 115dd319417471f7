import type { RefObject } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { flushSync } from "preact/compat";
import type { Size } from "../model/plan-layout";
import { useListener } from "./use-listener";

/** Return the inner size of an element, in pixels; null before it is measured. */
export function useSize(element: RefObject<HTMLElement | null>): Size | null {
  const [size, setSize] = useState<Size | null>(null);
  useLayoutEffect(() => {
    const measured = element.current!;
    const measure = () => setSize({ width: measured.clientWidth, height: measured.clientHeight });
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(measured);
    return () => observer.disconnect();
  }, [element]);
  return size;
}

/** Return whether the page is being printed, when everything is shown that scrolls on a screen. */
export function useIsPrinting(): boolean {
  const [isPrinting, setIsPrinting] = useState(false);
  useLayoutEffect(() => {
    const media = matchMedia("print");
    const update = () => flushSync(() => setIsPrinting(media.matches));
    media.addEventListener("change", update);
    return () => media.removeEventListener("change", update);
  }, []);
  useListener("beforeprint", () => flushSync(() => setIsPrinting(true)));
  useListener("afterprint", () => setIsPrinting(false));
  return isPrinting;
}
