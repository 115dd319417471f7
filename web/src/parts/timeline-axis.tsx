import { listTicks } from "../model/axis";
import type { Timeline } from "../model/timeline";

/** The seconds above the rows. */
export function TimelineAxis({ timeline: { startS, endS } }: { timeline: Timeline }) {
  const lengthS = endS - startS;
  return (
    <div class="timeline-head" aria-hidden="true">
      <span class="timeline-name" />
      <span class="timeline-track">
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
