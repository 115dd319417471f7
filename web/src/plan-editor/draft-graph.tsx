import { useMemo, useRef, useState } from "preact/hooks";
import { useFocusBack } from "../client/focus";
import { drawEdge, placeGraph, type Point } from "../model/plan-layout";
import { toLine } from "../model/plain-text";
import { ARROWS, findNeighbour, type Direction } from "../model/view-box";
import { canConnect, selectProblems, type Draft } from "./draft";

interface DraftGraphProps {
  draft: Draft;
  selected: string;
  /** The task whose connections are being chosen; empty for none. */
  connecting: string;
  problems: readonly string[];
  onSelect: (id: string) => void;
  /** Called with a task that is chosen while connections are. */
  onConnect: (from: string, to: string) => void;
  /** Called with a connection that was drawn. */
  onDrop: (from: string, to: string) => void;
  onRemove: (id: string) => void;
}

interface Drag extends Point {
  from: string;
}

/** The tasks of a draft as boxes and what needs what as arrows; a box is a button, its handle begins a connection. */
export function DraftGraph(props: DraftGraphProps) {
  const { draft, selected, connecting, problems, onSelect, onConnect, onDrop, onRemove } = props;
  const picture = useMemo(() => placeDraft(draft), [nameForm(draft)]);
  const tasks = new Map(draft.tasks.map((task) => [task.id, task]));
  // One task is reached with Tab, the others with arrow keys.
  const [reached, setReached] = useState("");
  const entry = tasks.has(reached) ? reached : selected;
  const box = useFocusBack<SVGGElement>(draft);
  const [drag, setDrag] = useState<Drag | null>(null);
  const svg = useRef<SVGSVGElement>(null);

  const locate = (event: PointerEvent) => {
    const frame = svg.current!.getBoundingClientRect();
    const scale = picture.width / frame.width || 1;
    return { x: (event.clientX - frame.left) * scale, y: (event.clientY - frame.top) * scale };
  };
  const drop = (event: PointerEvent) => {
    const { x, y } = locate(event);
    const hit = picture.boxes.find((box) => x >= box.x && x <= box.x + BOX.width && y >= box.y && y <= box.y + BOX.height);
    if (drag && hit && hit.id !== drag.from) onDrop(drag.from, hit.id);
    setDrag(null);
  };
  const press = (id: string) => (connecting && connecting !== id ? onConnect(connecting, id) : onSelect(id));
  const move = (id: string, direction: Direction) => {
    const next = findNeighbour(picture.boxes, picture.boxes.find((box) => box.id === id)!, direction);
    if (!next) return;
    setReached(next.id);
    svg.current?.querySelector<SVGGElement>(`[data-task="${CSS.escape(next.id)}"]`)?.focus();
  };
  const pressKey = (event: KeyboardEvent, id: string) => {
    if (event.key === "Enter" || event.key === " ") press(id);
    else if (event.key === "Delete") onRemove(id);
    else if (ARROWS[event.key]) move(id, ARROWS[event.key]!);
    else return;
    event.preventDefault();
  };

  return (
    <div class="draft-graph box">
      <svg
        ref={svg}
        width={picture.width}
        height={picture.height}
        viewBox={`0 0 ${picture.width} ${picture.height}`}
        role="group"
        aria-label="The plan as a graph; arrow keys move between tasks"
        onPointerMove={(event) => drag && setDrag({ ...drag, ...locate(event) })}
        onPointerUp={drop}
        onPointerLeave={() => setDrag(null)}
      >
        <defs>
          <marker id="draft-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">
            <path d="M0,0L8,4L0,8z" class="arrow" />
          </marker>
        </defs>
        {picture.edges.map(({ from, to, required, points }) => (
          <path key={`${from} ${to}`} d={drawEdge(points, "LR")} class={required ? "edge" : "edge is-optional"} marker-end="url(#draft-arrow)" />
        ))}
        {picture.boxes.map(({ id, x, y }) => {
          const task = tasks.get(id)!;
          const isWrong = selectProblems(draft, problems, id).length > 0;
          const isClosed = connecting !== "" && connecting !== id && !canConnect(draft, id, connecting);
          const needs = task.depends_on.map((edge) => edge.task).join(", ");
          const shownId = `${isWrong ? "⚠ " : ""}${toLine(id, 17)}`;
          const shownWorker = toLine(task.worker || "no worker", 22);
          const label = `${shownId}${task.worker === id ? "" : ` ${shownWorker}`}${needs ? `, needs ${toLine(needs)}` : ""}${isWrong ? ", has a problem" : ""}`;
          return (
            <g
              key={id}
              ref={id === selected ? box : undefined}
              transform={`translate(${x},${y})`}
              class={`draft-box${id === selected ? " selected" : ""}${isWrong ? " wrong" : ""}${isClosed ? " closed" : ""}`}
              role="button"
              tabindex={id === entry ? 0 : -1}
              data-task={id}
              onFocus={() => setReached(id)}
              aria-label={label}
              aria-pressed={id === selected}
              aria-disabled={isClosed}
              onClick={() => press(id)}
              onKeyDown={(event) => pressKey(event, id)}
            >
              <rect width={BOX.width} height={BOX.height} rx="6" />
              <text x="12" y="22" class="draft-id">
                {`${shownId} `}
              </text>
              {task.worker !== id && <text x="12" y="40" class="draft-worker">{shownWorker}</text>}
              <circle
                cx={BOX.width}
                cy={BOX.height / 2}
                r="12"
                class="draft-grip"
                onPointerDown={(event) => {
                  event.preventDefault();
                  setDrag({ from: id, ...locate(event) });
                }}
              />
              <circle cx={BOX.width} cy={BOX.height / 2} r="6" class="draft-handle" />
            </g>
          );
        })}
        {drag && <DragLine drag={drag} box={picture.boxes.find(({ id }) => id === drag.from)!} />}
      </svg>
    </div>
  );
}

const DragLine = ({ drag, box }: { drag: Drag; box: Point }) => (
  <line class="draft-drag" x1={box.x + BOX.width} y1={box.y + BOX.height / 2} x2={drag.x} y2={drag.y} />
);

const BOX = { width: 168, height: 52 };

/** Return what the picture of a draft depends on. */
const nameForm = ({ tasks }: Draft): string => JSON.stringify(tasks.map(({ id, depends_on }) => [id, depends_on]));

/** Return the picture of a draft, from left to right; needs that the draft has no task for are left out. */
export function placeDraft({ tasks }: Draft) {
  const sizes = new Map(tasks.map(({ id }) => [id, BOX]));
  const needs = tasks.flatMap(({ id, depends_on }) => depends_on.map(({ task, required }) => ({ from: task, to: id, required })));
  const known = needs.filter(({ from }) => sizes.has(from));
  const { boxes, ...picture } = placeGraph(sizes, known, { direction: "LR", nodesep: 18, ranksep: 46, marginx: 8, marginy: 8 });
  return { ...picture, boxes: [...boxes].map(([id, box]) => ({ id, ...box })) };
}
