import { listTicks } from "../model/axis";
import type { Timeline } from "../model/timeline";

const STRIP_PX = 28;

/** The seconds above the rows, and how many tasks were at work at each moment. */
export function TimelineAxis({ timeline }: { timeline: Timeline }) {
  const lengthS = timeline.endS - timeline.startS;
  return (
    <div class="timeline-head" aria-hidden="true">
      <span class="timeline-name small soft">at work: {timeline.maxAtWork} at most</span>
      <span class="timeline-track">
        <svg class="at-work" viewBox={`0 0 1000 ${STRIP_PX}`} preserveAspectRatio="none">
          <path d={drawSteps(timeline)} />
        </svg>
        {listTicks(lengthS).map((tick) => (
          <span key={tick} class="tick" style={{ left: `${(100 * tick) / lengthS}%` }}>
            {formatTick(tick)}
          </span>
        ))}
      </span>
    </div>
  );
}

const formatTick = (seconds: number): string =>
  seconds >= 60 && seconds % 60 === 0 ? `${seconds / 60} min` : `${Number(seconds.toPrecision(3))} s`;

function drawSteps({ atWork, startS, endS, maxAtWork }: Timeline): string {
  const x = (t: number) => ((1000 * (t - startS)) / (endS - startS)).toFixed(1);
  const y = (count: number) => (STRIP_PX - (STRIP_PX * count) / Math.max(1, maxAtWork)).toFixed(1);
  return `M0 ${STRIP_PX}${atWork.map(({ t, count }) => `H${x(t)}V${y(count)}`).join("")}V${STRIP_PX}z`;
}
