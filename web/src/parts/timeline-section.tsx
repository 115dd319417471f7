import { useMemo, useRef, useState, useLayoutEffect } from "preact/hooks";
import { formatCount, formatSeconds } from "../model/format";
import { toLine } from "../model/plain-text";
import { buildTimeline, listMarks, type Segment, type Timeline, type TimelineRow } from "../model/timeline";
import type { Trace } from "../model/trace";
import { flattenTasks, labelState, listNotable, STATE_GLYPHS, type TaskView } from "../model/task-view";
import { useRun } from "./run-context";
import { useSelection } from "./selection";
import { stateClass } from "./state-badge";
import { useIsPrinting } from "./use-size";
import type { RefObject } from "preact";

const ROW_PX = 26;
const MAX_ZOOM = 64;
/** More rows are not read on paper. */
const MAX_PRINTED_ROWS = 60;

/** Who waited and who worked, when: a row for the supervisor, each task, and the synthesizer. */
export function TimelineSection({ name = "" }: { name?: string; trace?: Trace }) {
  const { trace, tasks } = useRun();
  const timeline = useMemo(() => buildTimeline(trace, tasks), [trace, tasks]);
  const [zoom, setZoom] = useState(1);
  const scroller = useRef<HTMLDivElement>(null);
  const isPrinting = useIsPrinting();
  const rows = isPrinting ? pickPrinted(timeline.rows, tasks) : timeline.rows;
  const shown = useVisibleRows(scroller, rows.length, ROW_PX, isPrinting);
  const width = isPrinting ? "100%" : `${100 * zoom}%`;
  return (
    <>
      <div class="tools">
        <TimelineLegend timeline={timeline} />
        <span role="group" aria-label="Width of the timeline" class="no-print">
          <button type="button" onClick={() => setZoom(Math.max(1, zoom / 2))} disabled={zoom === 1} aria-label="Narrower">
            −
          </button>{" "}
          <button type="button" onClick={() => setZoom(Math.min(MAX_ZOOM, 2 * zoom))} disabled={zoom === MAX_ZOOM} aria-label="Wider">
            +
          </button>
        </span>
      </div>
      <div class="timeline box" ref={scroller} tabIndex={0} role="region" aria-label={`Rows of the timeline${name && ` of ${name}`}`}>
        <div class="timeline-sheet" style={{ width }}>
          <TimelineAxis timeline={timeline} />
          <ul class="timeline-rows bare" style={{ height: `${rows.length * ROW_PX}px`, "--tick": `${100 * measureTick(timeline)}%` }}>
            {rows.slice(shown.first, shown.last).map((row, index) => (
              <Row key={row.path || row.title} row={row} timeline={timeline} position={shown.first + index} count={rows.length} />
            ))}
          </ul>
        </div>
      </div>
      {rows.length < timeline.rows.length && (
        <p class="soft small">
          {rows.length} of {formatCount(timeline.rows.length)} rows: tasks that failed, were tried again or are on the slowest chain.
        </p>
      )}
    </>
  );
}

function pickPrinted(rows: readonly TimelineRow[], tasks: readonly TaskView[]): readonly TimelineRow[] {
  if (rows.length <= MAX_PRINTED_ROWS) return rows;
  const notable = new Set(listNotable(flattenTasks(tasks), MAX_PRINTED_ROWS).map(({ path }) => path));
  return rows.filter(({ path }) => !path || notable.has(path));
}

/** Return the distance of two marks of the axis, as a part of the whole. */
const measureTick = ({ startS, endS }: Timeline): number => (listTicks(endS - startS)[1] ?? endS - startS) / (endS - startS);

interface RowProps {
  row: TimelineRow;
  timeline: Timeline;
  position: number;
  count: number;
}

function Row({ row, timeline, position, count }: RowProps) {
  const { path, select } = useSelection();
  const isSelected = row.path !== "" && row.path === path;
  const marks = [isSelected && "is-selected", row.isCritical && "is-critical", row.task && stateClass(row.task.state)];
  return (
    <li
      class={["timeline-row", ...marks].filter(Boolean).join(" ")}
      style={{ top: `${position * ROW_PX}px` }}
      aria-setsize={count}
      aria-posinset={position + 1}
    >
      {row.path ? (
        <button
          type="button"
          class="timeline-name small"
          aria-pressed={isSelected}
          onClick={() => select(isSelected ? "" : row.path)}
          title={toLine(`${row.path} (${row.task?.worker})`, 160)}
        >
          <RowName row={row} />
        </button>
      ) : (
        <span class="timeline-name small">
          <RowName row={row} />
        </span>
      )}
      <span class="timeline-track" aria-hidden="true" onClick={() => row.path && select(isSelected ? "" : row.path)}>
        {row.segments.map((segment, index) => (
          <Bar key={index} segment={segment} timeline={timeline} />
        ))}
        <RowNote row={row} timeline={timeline} />
      </span>
    </li>
  );
}

const RowName = ({ row: { task, title, summary } }: { row: TimelineRow }) => (
  <>
    <span class="timeline-glyph" aria-hidden="true" style={{ marginInlineStart: `${(task?.level ?? 0) * 0.75}rem` }}>
      {task && STATE_GLYPHS[task.state]}
    </span>
    <bdi>{toLine(title, 60)}</bdi>
    <span class="visually-hidden">: {toLine([task?.worker, task && labelState(task.state), summary].filter(Boolean).join(", "), 400)}</span>
  </>
);

/** How long a task took, beside its bar; or why it has none. */
function RowNote({ row: { note, segments }, timeline: { startS, endS } }: { row: TimelineRow; timeline: Timeline }) {
  const lastS = Math.max(startS, ...segments.map((segment) => segment.endS));
  const left = segments.length ? (100 * (lastS - startS)) / (endS - startS) : 0;
  return (
    <span class="bar-note soft" style={{ left: `${left}%` }}>
      {toLine(note, 160)}
    </span>
  );
}

function Bar({ segment, timeline }: { segment: Segment; timeline: Timeline }) {
  const wholeS = timeline.endS - timeline.startS;
  const left = (100 * Math.max(0, segment.startS - timeline.startS)) / wholeS;
  const width = (100 * (segment.endS - segment.startS)) / wholeS;
  const title = `${toLine(segment.title, 120)}: ${formatSeconds(segment.endS - segment.startS)}, from ${formatSeconds(segment.startS - timeline.startS)}`;
  return (
    <span class={`bar bar-${segment.kind} ${segment.isFailed ? "is-failed" : ""}`} style={{ left: `${left}%`, width: `${width}%` }} title={title} />
  );
}

function TimelineLegend({ timeline }: { timeline: Timeline }) {
  return (
    <ul class="legend bare flow small soft">
      {listMarks(timeline).map(({ name, kind, isFailed }) => (
        <li key={name}>
          <span class={`bar bar-${kind} ${isFailed ? "is-failed" : ""}`} aria-hidden="true" /> {name}
        </li>
      ))}
      {timeline.rows.some((row) => row.isCritical && row.path) && (
        <li>
          <span class="legend-critical" aria-hidden="true" /> on the slowest chain
        </li>
      )}
    </ul>
  );
}

/** The seconds above the rows. */
function TimelineAxis({ timeline: { startS, endS } }: { timeline: Timeline }) {
  const lengthS = endS - startS;
  return (
    <div class="timeline-head" aria-hidden="true">
      <span class="timeline-name small" />
      <span class="timeline-track">
        {listTicks(lengthS).map((tick) => (
          <span key={tick} class="tick soft" style={{ left: `${(100 * tick) / lengthS}%` }}>
            {formatTick(tick)}
          </span>
        ))}
      </span>
    </div>
  );
}

const formatTick = (seconds: number): string =>
  seconds >= 60 && seconds % 60 === 0 ? `${seconds / 60} min` : `${Number(seconds.toPrecision(3))} s`;

/** Return moments for the marks of an axis: at most `max` of them, at 1, 2 or 5 times a power of ten, or whole minutes. */
export function listTicks(lengthS: number, max = 8): number[] {
  const least = lengthS / max;
  const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600];
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1e-6)));
  const fine = [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least)!;
  const step = least > 1 ? (steps.find((each) => each >= least) ?? Math.ceil(least / 3600) * 3600) : fine;
  return Array.from({ length: Math.floor(lengthS / step + 1e-9) + 1 }, (_, index) => index * step);
}

const EXTRA_ROWS = 12;
/** Fewer rows are all drawn. */
const MIN_ROWS = 120;

interface VisibleRows {
  first: number;
  last: number;
}

/** Return which rows of a scrolled list to draw: those in view, and some around them. */
function useVisibleRows(scroller: RefObject<HTMLElement | null>, count: number, rowPx: number, isPrinting: boolean): VisibleRows {
  const [shown, setShown] = useState<VisibleRows>({ first: 0, last: MIN_ROWS });
  useLayoutEffect(() => {
    const element = scroller.current!;
    const update = () => {
      // A step of some rows, so that not each pixel draws again.
      const first = Math.max(0, Math.floor(element.scrollTop / rowPx / EXTRA_ROWS) * EXTRA_ROWS - EXTRA_ROWS);
      const last = first + Math.ceil(element.clientHeight / rowPx) + 3 * EXTRA_ROWS;
      setShown((old) => (old.first === first && old.last === last ? old : { first, last }));
    };
    update();
    element.addEventListener("scroll", update, { passive: true });
    return () => element.removeEventListener("scroll", update);
  }, [scroller, rowPx]);
  return isPrinting || count <= MIN_ROWS ? { first: 0, last: count } : shown;
}
