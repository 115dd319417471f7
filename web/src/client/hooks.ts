/** What a component asks of the server. */

import { createContext } from "preact";
import { useContext, useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { LiveRun } from "./live-run";
import { useListener } from "../parts/use-listener";
import { addAdvice, endSilence, readProblem, type Problem } from "./problem";
import { RunWatch, type WatchedRun } from "./run-watch";
import { ANSWERED, type Server } from "./server";

/** Whoever uses the page: what the server does not show without a token is asked for again with the next one. */
export interface Visitor {
  /** Counts the tokens that were given. */
  tokens: number;
  /** Called where the server asks for a token. */
  onRefused: () => void;
}

export const VisitorContext = createContext<Visitor>({ tokens: 0, onRefused: () => undefined });

/** Return how a failure is shown: one for which the page asks for a token is not shown a second time. */
function useShown(): (error: unknown) => Problem | null {
  const { onRefused } = useContext(VisitorContext);
  return (error) => {
    const problem = readProblem(error);
    if (problem.kind !== "unauthorized") return problem;
    onRefused();
    return null;
  };
}

export interface Asked<Answer> {
  answer: Answer | null;
  problem: Problem | null;
}

/** Until a server that does not answer is asked again. */
const RETRY_MS = 2000;

/** Return what a call returns, asked again every `everyMs` while the page is visible, and until the server answers. */
export function useAsked<Answer>(call: () => Promise<Answer>, inputs: unknown[], everyMs = 0): Asked<Answer> {
  const [asked, setAsked] = useState<Asked<Answer>>({ answer: null, problem: null });
  const { tokens } = useContext(VisitorContext);
  const show = useShown();
  useEffect(() => {
    let isGone = false;
    let timer: ReturnType<typeof setTimeout>;
    let wait = everyMs || RETRY_MS; // a tab that is hidden asks when it is shown
    const ask = async () => {
      if (document.visibilityState !== "hidden") {
        const next = await call().then(
          (answer) => ({ answer, problem: null }),
          (error: unknown) => ({ problem: isGone ? null : show(error) }),
        );
        if (!isGone) setAsked((before) => ({ ...before, ...next }));
        wait = next.problem?.kind === "unreachable" ? RETRY_MS : everyMs;
      }
      if (wait && !isGone) timer = setTimeout(ask, wait);
    };
    void ask();
    return () => {
      isGone = true;
      clearTimeout(timer);
    };
  }, [...inputs, tokens]);
  return asked;
}

/** Watch a thread while the component is shown. */
export function useRun(server: Server, thread: string): LiveRun | null {
  const [run, setRun] = useState<WatchedRun | null>(null);
  const watch = useMemo(() => new RunWatch(server, thread, setRun), [server, thread]);
  const { tokens } = useContext(VisitorContext);
  const show = useShown();
  useEffect(() => {
    void watch.start();
    return () => watch.stop();
  }, [watch]);
  useEffect(() => watch.refresh(), [watch, tokens]);
  useEffect(() => {
    if (run?.problem) show(run.problem);
  }, [run?.problem]);
  return run && { ...run, server, refresh: (asked) => watch.refresh(asked) };
}

export interface Action<Given extends unknown[]> {
  isBusy: boolean;
  problem: Problem | null;
  start: (...given: Given) => void;
}

/** Return something to do once at a time, whose failure is shown until it is tried again. */
export function useAction<Given extends unknown[]>(work: (...given: Given) => Promise<void>): Action<Given> {
  const [state, setState] = useState<{ isBusy: boolean; problem: Problem | null }>({ isBusy: false, problem: null });
  const isAtWork = useRef(false); // a second press may come before the next drawing
  const show = useShown();
  const end = (problem: Problem | null) => {
    isAtWork.current = false;
    setState({ isBusy: false, problem });
  };
  useListener(ANSWERED, () => setState((before) => (endSilence(before.problem) === before.problem ? before : { ...before, problem: endSilence(before.problem) })));
  const start = (...given: Given) => {
    if (isAtWork.current) return;
    isAtWork.current = true;
    setState({ isBusy: true, problem: null });
    work(...given).then(
      () => end(null),
      (error: unknown) => end(addAdvice(show(error))),
    );
  };
  return { ...state, start };
}
