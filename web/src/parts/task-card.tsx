import { formatSeconds } from "../model/format";
import type { PlacedCard } from "../model/plan-layout";
import { toLine } from "../model/plain-text";
import { isTaken, labelState, STATE_GLYPHS, secondsOf, type TaskView } from "../model/task-view";
import { stateClass } from "./state-badge";
import { Line } from "./text";

/** Characters; a card shows as many as it has room for. */
const MAX_NAME = 60;

/** Return the figures below a task's name on its card. */
function describeWork(task: TaskView): string {
  const parts = [
    task.isUnread ? "passages" : "",
    task.isDegraded ? "partial" : "",
    isTaken(task) ? "taken over" : task.endedS === null ? labelState(task.state) : formatSeconds(secondsOf(task)),
    task.attempts > 1 ? `${task.attempts} attempts` : "",
  ];
  return parts.filter(Boolean).join(" · ");
}

/** Return a task in words, for those who do not see the drawing. */
function describeTask(task: TaskView): string {
  const needs = task.needs.map((need) => toLine(need.path, 60) + (need.required ? "" : " (optional)")).join(", ");
  const parts = [
    `${toLine(task.id, MAX_NAME)} ${toLine(task.worker, MAX_NAME)} ${describeWork(task)}`,
    task.endedS === null ? "" : labelState(task.state),
    task.path === task.id ? "" : `in ${toLine(task.path, 120)}`,
    task.isCritical ? "on the slowest chain" : "",
    needs && `needs ${needs}`,
  ];
  return parts.filter(Boolean).join(", ");
}

interface CardProps {
  placed: PlacedCard;
  isSelected: boolean;
  /** It needs the selected task, or is needed by it. */
  isRelated: boolean;
  /** The one card that the Tab key reaches. */
  isReachable: boolean;
  onSelect: (path: string) => void;
}

/** A task in the drawing of the plan. */
export function TaskCard({ placed, isSelected, isRelated, isReachable, onSelect }: CardProps) {
  const { task, x, y, width, height } = placed;
  const marks = [isSelected && "is-selected", isRelated && "is-related", task.isCritical && "is-critical"];
  return (
    <>
      <g
        class={["card", stateClass(task.state), ...marks].filter(Boolean).join(" ")}
        role="button"
        aria-pressed={isSelected}
        aria-label={describeTask(task)}
        tabindex={isReachable ? 0 : -1}
        data-path={task.path}
        transform={`translate(${x} ${y})`}
        onClick={() => onSelect(isSelected ? "" : task.path)}
      >
        <rect class="card-frame" width={width} height={height} rx={6} />
        <text class="card-glyph" x={16} y={22} text-anchor="middle" aria-hidden="true">
          {`${STATE_GLYPHS[task.state]} `}
        </text>
        <title>{`${toLine(task.path, 120)}\n${toLine(task.description, 300)}`}</title>
      </g>
      {/* HTML, as SVG cannot end a text that is too long with an ellipsis; browsers take no name of a button from it. */}
      <foreignObject class="card-text" x={x + 28} y={y} width={width - 36} height={height} aria-hidden="true">
        <div class="card-title"><Line max={MAX_NAME}>{task.id}</Line></div>
        <div class="card-work">
          {task.worker !== task.id && <span class="card-worker"><Line max={MAX_NAME}>{task.worker}</Line></span>}
          <span>{describeWork(task)}</span>
        </div>
      </foreignObject>
    </>
  );
}
