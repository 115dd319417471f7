import { useMemo, useState } from "preact/hooks";
import { listEventLines, listKinds, listShownEvents, type EventLine } from "../model/event-lines";
import { findAnswer } from "../model/answer";
import { countOf, formatCount } from "../model/format";
import type { Trace } from "../model/trace";
import { Feed } from "./feed";
import { LongText } from "./long-text";
import { useSelection } from "./selection";
import { Line } from "./text";

const PAGE = 100;

/** The events of the last request, filtered by kind, task and words; each with its data. */
export function EventsSection({ trace }: { trace: Trace }) {
  const { path } = useSelection();
  const [kind, setKind] = useState("");
  const [text, setText] = useState("");
  const [isOfTask, setOfTask] = useState(false);
  const [shown, setShown] = useState(PAGE);
  const task = isOfTask ? path : "";
  const events = useMemo(() => listShownEvents(trace), [trace]);
  const kinds = useMemo(() => listKinds(events), [events]);
  const lines = useMemo(() => listEventLines(events, { kind, task, text }), [events, kind, task, text]);
  return (
    <>
      {(trace.run.now_s === undefined || findAnswer(trace)) && (
        <div class="alive-frame box" tabIndex={0} role="region" aria-label="What happened, in sentences">
          <Feed trace={trace} />
        </div>
      )}
      <details class="no-print">
        <summary>{countOf(events.length, "event")}, as the trace has them</summary>
        <div class="choices flow">
          <label>
            Kind{" "}
            <select value={kind} onChange={(event) => setKind(event.currentTarget.value)}>
              <option value="">all</option>
              {kinds.map((name) => (
                <option key={name} value={name}>{name}</option>
              ))}
            </select>
          </label>
          <label>
            Words <input type="search" value={text} onInput={(event) => setText(event.currentTarget.value)} />
          </label>
          <label>
            <input type="checkbox" checked={isOfTask} disabled={!path} onChange={() => setOfTask(!isOfTask)} /> of the
            selected task only
          </label>
          <span class="soft" role="status">
            {formatCount(lines.length)} shown
          </span>
        </div>
        <ol class="events bare small">
          {lines.slice(0, shown).map((line, index) => (
            <EventItem key={index} line={line} />
          ))}
        </ol>
        {lines.length > shown && (
          <button type="button" onClick={() => setShown(shown + PAGE)}>Show more</button>
        )}
      </details>
    </>
  );
}

function EventItem({ line: { event, seconds, text, isFailed } }: { line: EventLine }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <li class={isFailed ? "failed" : ""}>
      <details onToggle={(toggled) => setOpen(toggled.currentTarget.open)}>
        <summary>
          <span class="event-time soft">{seconds.toFixed(2)}</span>
          <span class="event-kind">
            {isFailed && <span aria-label="failed">✕ </span>}
            <Line max={24}>{event.kind}</Line>
          </span>
          <span class="event-task"><Line max={40}>{event.task || "–"}</Line></span>
          <span class="event-text"><Line max={240}>{text}</Line></span>
        </summary>
        {isOpen && <LongText text={JSON.stringify(event, null, 2)} max={4000} isCode />}
      </details>
    </li>
  );
}
