import type { TargetedEvent } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { listTold } from "../model/event-lines";
import { formatCount, formatSeconds } from "../model/format";
import { toLine } from "../model/plain-text";
import { flattenTasks } from "../model/task-view";
import type { Trace } from "../model/trace";
import { MarkdownText } from "./markdown-text";
import { useRun } from "./run-context";
import { Line } from "./text";

/** More lines make a page slow; the events have all. */
const MAX_LINES = 200;
const MAX_NAMED = 4;
/** Of the answer as it is written: its end is seen. */
const MAX_WRITTEN = 20_000;
/** From the end of a list, within which a reader is at its end. */
const NEAR_PX = 40;
/** After its last move on the frame, a pointer reads no more. */
const RESTED_MS = 4000;

/** What happens in a run at work, or its answer as it is written: once there is a plan in a frame of one height, so that nothing below it moves. */
export function Alive({ trace }: { trace: Trace }) {
  const { written = "" } = trace.run;
  const end = written.length > MAX_WRITTEN ? `…${written.slice(-MAX_WRITTEN)}` : written;
  const frame = useFollowedEnd(written || listTold(trace).length);
  return (
    <section class={trace.tasks.length ? "alive" : "alive is-planning"} aria-labelledby="alive-title">
      <h2 id="alive-title">{written ? "The answer, as it is written" : "What happens"}</h2>
      <div class="alive-frame box" tabIndex={0} role="group" aria-labelledby="alive-title" {...frame}>
        {written ? <MarkdownText text={end} /> : <Feed trace={trace} />}
      </div>
      <AtWork trace={trace} />
    </section>
  );
}

/** Return a reference to a frame that shows its end as it grows, unless a pointer reads in it or a reader has gone back. */
function useFollowedEnd(grown: unknown) {
  const frame = useRef<HTMLDivElement>(null);
  const reader = useRef({ isAtEnd: true, movedAt: -RESTED_MS });
  useEffect(() => {
    const { current } = frame;
    if (current && reader.current.isAtEnd && performance.now() - reader.current.movedAt > RESTED_MS) current.scrollTop = current.scrollHeight;
  }, [grown]);
  const onScroll = ({ currentTarget: { scrollHeight, scrollTop, clientHeight } }: TargetedEvent<HTMLDivElement>) =>
    (reader.current.isAtEnd = scrollHeight - scrollTop - clientHeight < NEAR_PX);
  // A browser tells of a move, too, where the page has moved below a pointer at rest.
  const onPointerMove = ({ movementX, movementY }: PointerEvent) => (movementX || movementY) && (reader.current.movedAt = performance.now());
  return { ref: frame, onScroll, onPointerMove };
}

/** What has happened, in sentences: when, who, what. */
export function Feed({ trace }: { trace: Trace }) {
  const told = listTold(trace);
  return (
    <ol class="feed bare">
      {told.length > MAX_LINES && <li class="soft">{formatCount(told.length - MAX_LINES)} earlier lines are among the events.</li>}
      {told.slice(-MAX_LINES).map(({ event, seconds, who, text, isFailed }, index) => (
        <li key={`${event.t} ${index}`} class={isFailed ? "failed" : event.kind === "report" ? "reported" : ""}>
          <span class="event-time soft">{seconds < 0.05 ? "0 s" : formatSeconds(seconds)}</span>
          <span>
            <strong><bdi>{who}</bdi></strong>{" "}
            {isFailed && <span class="visually-hidden">failed: </span>}
            <Line max={320}>{text}</Line>
          </span>
        </li>
      ))}
    </ol>
  );
}

/** Which tasks are at work, and how long. */
function AtWork({ trace }: { trace: Trace }) {
  const { run } = trace;
  const working = flattenTasks(useRun().tasks).filter(({ state, inner }) => state === "working" && !inner.length);
  const named = working.slice(0, MAX_NAMED).map(({ path, startedS }) => `${toLine(path.replaceAll("_", " "), 40)} ${formatSeconds(Math.max(0, (run.now_s ?? 0) - (startedS ?? 0)))}`);
  const rest = working.length > MAX_NAMED ? ` and ${working.length - MAX_NAMED} more` : "";
  const said = working.length ? `At work: ${named.join(", ")}${rest}` : nameStep(trace);
  return (
    <p class="at-work small"><Line max={300}>{said}</Line></p>
  );
}

/** Return what is done while no task is at work. */
function nameStep({ tasks, run }: Trace): string {
  if (!tasks.length) return "Making a plan";
  if (tasks.some(({ status }) => status === "waiting")) return "Sending tasks to their workers";
  return run.written ? "Writing the answer" : "Preparing the answer";
}
