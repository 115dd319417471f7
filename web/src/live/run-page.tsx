import { useEffect } from "preact/hooks";
import { formatCount } from "../model/format";
import { toLine } from "../model/plain-text";
import type { Trace } from "../model/trace";
import { RunView, listRunSections } from "../parts/run-view";
import { Line } from "../parts/text";
import { downloadReport } from "./download";
import { useAction, useRun } from "./hooks";
import { resumeRun, stopRun, type LiveRun } from "./live-run";
import { Notice, ProblemLine } from "./notice";
import { RUN_PANELS } from "./panels";
import type { Problem } from "./problem";
import { linkTo } from "./router";
import type { Connection } from "./run-watch";
import type { Server } from "./server";
import { StatusMark } from "./status-mark";

const CONNECTIONS: Record<Connection, string> = {
  loading: "loading…",
  following: "live",
  lost: "connection lost, trying again…",
  settled: "",
};
const CAN_RESUME = ["failed", "stopped", "partial"];

interface RunPageProps {
  server: Server;
  thread: string;
  onProblem: (problem: Problem) => void;
}

/** One run, as it happens or as it was. */
export function RunPage({ server, thread, onProblem }: RunPageProps) {
  const run = useRun(server, thread);
  useEffect(() => {
    if (run?.problem?.kind === "unauthorized" && !run.trace) onProblem(run.problem);
  }, [run?.problem, run?.trace]);
  useEffect(() => {
    document.title = run?.trace?.run.request ? `${toLine(run.trace.run.request, 60)} · ${run.status}` : "supervise";
    return () => {
      document.title = "supervise";
    };
  }, [run?.trace?.run.request, run?.status]);
  if (!run) return <p class="soft">loading…</p>;
  return (
    <>
      <RunBar run={run} />
      <ProblemLine problem={run.problem} />
      {run.trace && <Contents trace={run.trace} />}
      {run.unreadable > 0 && <Notice>{formatCount(run.unreadable)} entries of the trace cannot be read.</Notice>}
      {RUN_PANELS.map((Panel, index) => (
        <Panel key={index} run={run} />
      ))}
      {run.trace ? <RunView trace={run.trace} /> : !run.problem && <p class="soft">The run waits in the queue of the server.</p>}
    </>
  );
}

/** Links to the parts of the run. */
const Contents = ({ trace }: { trace: Trace }) => (
  <nav class="contents small no-print" aria-label="Parts of the run">
    {listRunSections(trace).map(({ id, title }) => (
      <a key={id} href={`#${id}`}>
        {title}
      </a>
    ))}
  </nav>
);

/** What can be done with the run, and how the page is connected to it. */
function RunBar({ run }: { run: LiveRun }) {
  const stop = useAction(() => stopRun(run));
  const resume = useAction(() => resumeRun(run));
  const report = useAction(() => downloadReport(run.trace!));
  return (
    <>
      <div class="run-bar">
        <StatusMark status={run.status} />
        <span class="soft small" role="status">
          {CONNECTIONS[run.connection]}
        </span>
        <span class="run-id soft small">
          thread <Line max={60}>{run.thread}</Line>
        </span>
        {run.status === "running" && (
          <button type="button" onClick={stop.start} disabled={stop.isBusy}>
            Stop the run
          </button>
        )}
        {CAN_RESUME.includes(run.status) && (
          <button type="button" onClick={resume.start} disabled={resume.isBusy}>
            Resume
          </button>
        )}
        {run.trace && (
          <button type="button" onClick={report.start} disabled={report.isBusy}>
            Download the report
          </button>
        )}
        <a href={linkTo()}>All runs</a>
      </div>
      <ProblemLine problem={stop.problem ?? resume.problem ?? report.problem} />
    </>
  );
}
