import { countOf } from "../model/format";
import { countStates } from "../model/plan-blocks";
import type { PlacedFrame } from "../model/plan-layout";
import { labelState } from "../model/task-view";
import { toLine } from "../model/plain-text";
import { stateClass } from "./state-badge";

interface FrameProps {
  frame: PlacedFrame;
  isRelated: boolean;
  onToggle: (key: string) => void;
}

/** Tasks that are drawn together, or an inner team: a click on its heading opens or closes it. */
export function PlanFrame({ frame, isRelated, onToggle }: FrameProps) {
  const counts = [...countStates(frame.tasks)];
  const states = counts.map(([state, count]) => `${count} ${labelState(state)}`).join(", ");
  const title = `${toLine(frame.title, 40)}: ${countOf(frame.tasks.length, "task")}`;
  const isCard = frame.isGroup && !frame.isOpen;
  return (
    <g class={`frame ${isCard ? "is-card" : ""} ${isRelated ? "is-related" : ""}`} transform={`translate(${frame.x} ${frame.y})`}>
      <rect class="frame-box" width={frame.width} height={frame.height} rx={8} />
      <g
        role="button"
        tabindex={0}
        aria-expanded={frame.isOpen}
        aria-label={`${title} ${states}`}
        class="frame-heading"
        onClick={() => onToggle(frame.key)}
        onKeyDown={(event) => (event.key === "Enter" || event.key === " ") && (event.preventDefault(), onToggle(frame.key))}
      >
        <rect class="frame-handle" width={frame.width} height={isCard ? frame.height : 26} rx={8} />
        <svg x={10} y={0} width={frame.width - 20} height={frame.height} aria-hidden="true">
          <text class="frame-title" y={isCard ? 22 : 18}>
            {frame.isOpen ? "▾ " : "▸ "}
            {`${title} `}
          </text>
          {isCard && (
            <text class="card-work" y={40}>{states}</text>
          )}
        </svg>
        {isCard && <StateBar counts={counts} total={frame.tasks.length} width={frame.width - 20} y={frame.height - 14} />}
      </g>
    </g>
  );
}

interface BarProps {
  counts: [Parameters<typeof stateClass>[0], number][];
  total: number;
  width: number;
  y: number;
}

function StateBar({ counts, total, width, y }: BarProps) {
  let x = 10;
  return (
    <>
      {counts.map(([state, count]) => {
        const part = (width * count) / total;
        x += part;
        return <rect key={state} class={`state-bar ${stateClass(state)}`} x={x - part} y={y} width={part} height={6} />;
      })}
    </>
  );
}
