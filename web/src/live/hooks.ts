/** What a component asks of the server. */

import { useEffect, useMemo, useState } from "preact/hooks";
import { buildLiveRun, type LiveRun } from "./live-run";
import { readProblem, type Problem } from "./problem";
import { RunWatch, type WatchedRun } from "./run-watch";
import type { Server } from "./server";

export interface Asked<Answer> {
  answer: Answer | null;
  problem: Problem | null;
}

/** Return what a call returns, asked again every `everyMs` while the page is visible. */
export function useAsked<Answer>(call: () => Promise<Answer>, inputs: unknown[], everyMs = 0): Asked<Answer> {
  const [asked, setAsked] = useState<Asked<Answer>>({ answer: null, problem: null });
  useEffect(() => {
    let isGone = false;
    let timer: ReturnType<typeof setTimeout>;
    const ask = async () => {
      if (document.visibilityState !== "hidden") {
        const next = await call().then(
          (answer) => ({ answer, problem: null }),
          (error: unknown) => ({ problem: readProblem(error) }),
        );
        if (!isGone) setAsked((before) => ({ ...before, ...next }));
      }
      if (everyMs && !isGone) timer = setTimeout(ask, everyMs);
    };
    setAsked({ answer: null, problem: null });
    void ask();
    return () => {
      isGone = true;
      clearTimeout(timer);
    };
  }, inputs);
  return asked;
}

/** Watch a thread while the component is shown. */
export function useRun(server: Server, thread: string): LiveRun | null {
  const [run, setRun] = useState<WatchedRun | null>(null);
  const watch = useMemo(() => new RunWatch(server, thread, setRun), [server, thread]);
  useEffect(() => {
    setRun(null);
    void watch.start();
    return () => watch.stop();
  }, [watch]);
  return run && run.thread === thread ? buildLiveRun(run, server, watch) : null;
}

export interface Action {
  isBusy: boolean;
  problem: Problem | null;
  start: () => void;
}

/** Return something to do once at a time, whose failure is shown. */
export function useAction(work: () => Promise<void>): Action {
  const [state, setState] = useState<{ isBusy: boolean; problem: Problem | null }>({ isBusy: false, problem: null });
  const start = () => {
    if (state.isBusy) return;
    setState({ isBusy: true, problem: null });
    work().then(
      () => setState({ isBusy: false, problem: null }),
      (error: unknown) => setState({ isBusy: false, problem: readProblem(error) }),
    );
  };
  return { ...state, start };
}
