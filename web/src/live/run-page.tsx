import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { isWithoutModel } from "../model/estimate";
import { formatCount } from "../model/format";
import { toLine } from "../model/plain-text";
import { describeRun } from "../model/run-state";
import type { Trace } from "../model/trace";
import { RunView } from "../parts/run-view";
import { Text } from "../parts/text";
import { QuestionsPanel } from "../questions/questions-panel";
import { StopPanel } from "../stopping/stop-panel";
import { EarlierTurns } from "./earlier-turns";
import { useFocusBack } from "../client/focus";
import { canFollow, FollowUp } from "./follow-up";
import { useAction, useAsked, useRun } from "../client/hooks";
import { loadDocuments, loadWhy } from "../client/kept-trace";
import { readAsked, resumeRun, stopRun, type LiveRun } from "../client/live-run";
import { Missing, Notice, ProblemLine } from "../client/notice";
import { linkTo } from "./router";
import { RunAgain } from "./run-again";
import type { Connection } from "../client/run-watch";
import { makeFile, type Server } from "../client/server";
import { StatusMark, nameStatus } from "./status-mark";
import { nameFile, saveFile } from "../model/save-file";

const CONNECTIONS: Record<Connection, string> = {
  loading: "loading…",
  following: "live",
  lost: "connection lost, trying again…",
  settled: "",
};
const CAN_RESUME = ["failed", "stopped", "partial"];

/** One run, as it happens or as it was. */
export function RunPage({ server, thread }: { server: Server; thread: string }) {
  const run = useRun(server, thread);
  useEffect(() => {
    document.title = run?.trace?.run.request ? `${nameStatus(run.status)}: ${toLine(run.trace.run.request, 60)}` : "supervise";
    return () => {
      document.title = "supervise";
    };
  }, [run?.trace?.run.request, run?.status]);
  const isShort = run !== null && CAN_RESUME.includes(run.status);
  const { answer: why } = useAsked(() => (isShort ? loadWhy(server, thread) : Promise.resolve([])), [server, thread, isShort, run?.trace?.events.length]);
  const written = run?.trace ? countWritten(run.trace) : 0;
  const { answer: documents } = useAsked(() => (written ? loadDocuments(server, thread) : Promise.resolve([])), [server, thread, written]);
  const trace = useMemo(() => run?.trace && { ...run.trace, why: why ?? [], documents: documents ?? [] }, [run?.trace, why, documents]);
  if (!run) return <p class="soft">loading…</p>;
  const { problem, connection } = run;
  if (!trace && problem && connection !== "lost") return <Missing problem={problem} href={linkTo()}>All runs</Missing>;
  return (
    <>
      <RunBar run={{ ...run, trace: trace ?? null }} />
      {connection !== "lost" && <ProblemLine problem={problem} />}
      {run.unreadable > 0 && <Notice>{formatCount(run.unreadable)} entries of the trace cannot be read.</Notice>}
      {trace && <EarlierTurns trace={trace} />}
      {!trace && <QuestionsPanel run={run} />}
      {trace && <RunView trace={trace} asking={<QuestionsPanel run={run} />} resume={<Resume run={{ ...run, trace }} />} actOn={(task) => <RunAgain key={task.path} run={run} task={task} />} />}
      {!trace && connection !== "lost" && <Unbegun run={run} />}
      {canFollow(run) && <FollowUp run={run} />}
    </>
  );
}

const BACK_SHOWN_MS = 6000;

/** Return whether the page was without its server until some seconds ago. */
function useReconnected(connection: Connection): boolean {
  const [isBack, setBack] = useState(false);
  const before = useRef(connection);
  useEffect(() => {
    const wasLost = before.current === "lost";
    before.current = connection;
    if (!wasLost || connection === "lost") return;
    setBack(true);
    const timer = setTimeout(() => setBack(false), BACK_SHOWN_MS);
    return () => clearTimeout(timer);
  }, [connection]);
  return isBack;
}

/** What was asked, and when it begins. */
function Unbegun({ run }: { run: LiveRun }) {
  const again = useAction(() => resumeRun(run, run.given!));
  return (
    <>
      {run.given && <blockquote class="request"><Text>{readAsked(run.given.input)}</Text></blockquote>}
      <p class="soft">{describeUnbegun(run)}</p>
      {run.given && run.status !== "running" && (
        <button type="button" class="primary" onClick={() => again.start()} disabled={again.isBusy}>Start again</button>
      )}
      <ProblemLine problem={again.problem} />
    </>
  );
}

function describeUnbegun({ status, connection, isQueued }: LiveRun): string {
  if (connection === "loading") return "";
  if (status !== "running") return "The run was stopped before it began, so there is nothing to resume.";
  if (isQueued) return "The server works on other runs. This one begins when it is its turn, also when you close the page.";
  return "The run begins as soon as the server can, also when you close the page.";
}

/** Whether a resume would end the same way: each task ended, and no language model worked that may answer in another way. */
const wouldEndAlike = (trace: Trace): boolean =>
  trace.run.status === "partial" && isWithoutModel(trace) && trace.tasks.every(({ status }) => ["completed", "skipped", "escalated"].includes(status));

/** Goes on with a run that did not come to its end: beside the note on that where there is one. */
function Resume({ run }: { run: LiveRun }) {
  const resume = useAction(() => resumeRun(run));
  if (!run.trace || !CAN_RESUME.includes(run.status) || wouldEndAlike(run.trace)) return null;
  return (
    <>
      <button type="button" class="no-print" onClick={() => resume.start()} disabled={resume.isBusy}>Resume</button>
      <ProblemLine problem={resume.problem} />
    </>
  );
}

/** What can be done with the run, and how the page is connected to it. */
function RunBar({ run }: { run: LiveRun }) {
  const stop = useAction(() => stopRun(run));
  const report = useAction(() => downloadReport(run.server, run.trace!));
  const { trace } = run;
  const status = useFocusBack<HTMLParagraphElement>(run.status);
  const isBack = useReconnected(run.connection);
  return (
    <>
      <div class="run-bar flow no-print">
        <p class="run-now" role="status" tabIndex={-1} ref={status}>
          <StatusMark status={run.status} unbegun={trace || run.status !== "running" ? "" : run.isQueued ? "in the queue" : "starting"} /> <span class={run.connection === "lost" ? "problem" : "soft small"}>{isBack ? "connected again" : CONNECTIONS[run.connection]}</span>
        </p>
        {run.status === "running" && trace && <StopPanel run={run} />}
        {(run.status === "running" || run.status === "needs_input") && (
          <button type="button" onClick={() => stop.start()} disabled={stop.isBusy}>Stop the run</button>
        )}
        {trace && !describeRun(trace).note && <Resume run={run} />}
        {trace && run.status !== "running" && (
          <button type="button" onClick={() => report.start()} disabled={report.isBusy}>Download the report</button>
        )}
      </div>
      <ProblemLine problem={stop.problem ?? report.problem} />
    </>
  );
}

/** Of a document that the report holds. */
const MAX_HELD_CHARS = 150_000;

/** Return how many documents the run has written, as its tools have answered. */
const countWritten = ({ events }: Trace): number => events.filter(({ kind, result }) => kind === "tool_call" && /^\{"path": /.test(String(result ?? ""))).length;

/** Let the browser save the report of a run.
 *
 * @throws Problem: the server does not make it.
 */
async function downloadReport(server: Server, { run, documents = [], ...trace }: Trace): Promise<void> {
  const { now_s: _, written: __, ...ended } = run; // a file is not live
  const small = documents.filter(({ content }) => content.length <= MAX_HELD_CHARS);
  const page = await makeFile(server, "report.html", JSON.stringify({ ...trace, run: ended, documents: small }));
  saveFile(`${nameFile(run)}-report.html`, new Blob([page], { type: "text/html" }));
}
