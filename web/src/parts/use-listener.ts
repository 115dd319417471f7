import { useEffect, useRef } from "preact/hooks";

/** Call a function at each event of the page while the component is shown. */
export function useListener<Kind extends keyof WindowEventMap>(kind: Kind, listen: (event: WindowEventMap[Kind]) => void, isCapture = false): void {
  const latest = useRef(listen);
  latest.current = listen;
  useEffect(() => {
    const call = (event: WindowEventMap[Kind]) => latest.current(event);
    addEventListener(kind, call, isCapture);
    return () => removeEventListener(kind, call, isCapture);
  }, []);
}
