import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { countOf } from "../model/format";
import { drawEdge, describeShape, layoutPlan, refreshTasks, type PlacedCard, type PlacedEdge, type PlanLayout } from "../model/plan-layout";
import { isInside, isSeen, MARGIN } from "../model/view-box";
import { labelState, STATE_GLYPHS, type TaskView } from "../model/task-view";
import { PlanFrame } from "./plan-frame";
import { TaskCard } from "./task-card";
import { useRun } from "./run-context";
import { useSelection } from "./selection";
import { usePanZoom } from "./use-pan-zoom";
import { useIsPrinting } from "./use-size";
import { countStates } from "../model/plan-blocks";
import { stateClass } from "./state-badge";

const MAX_OPEN_TASKS = 200;
const NARROW_PX = 620;

/** The plan as a drawn graph: tasks from left to right, or on a narrow screen downwards, by what they need. */
export function PlanGraph() {
  const { tasks, byPath } = useRun();
  const { path: selected, select } = useSelection();
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const [focused, setFocused] = useState("");
  const room = useRef<HTMLDivElement>(null);
  const isPrinting = useIsPrinting();
  const direction = (room.current?.clientWidth ?? innerWidth) < NARROW_PX ? "TB" : "LR";
  // The layout takes long: while a run is watched it is of use until the plan itself changes.
  const shape = useMemo(() => describeShape(tasks), [tasks]);
  const placed = useMemo(() => {
    const isOpenAtFirst = byPath.size <= MAX_OPEN_TASKS;
    return layoutPlan(tasks, { direction, isOpen: (key) => isOpenAtFirst !== toggled.has(key) });
  }, [shape, toggled, direction]);
  const drawing = useMemo(() => refreshTasks(placed, byPath), [placed, byPath]);
  useEffect(() => {
    if (!byPath.has(selected) || drawing.cards.some(({ task }) => task.path === selected)) return;
    const holder = drawing.frames.find((frame) => !frame.isOpen && frame.tasks.some(({ path }) => path === selected || selected.startsWith(`${path}/`)));
    if (holder) toggle(holder.key);
  }, [selected, drawing]);
  const pan = usePanZoom(room, placed, { selected, direction: placed.isTable ? "LR" : direction, onFocus: setFocused });
  const related = useMemo(() => findRelated(byPath.get(selected)), [byPath, selected]);
  const toggle = (key: string) => setToggled((keys) => new Set(keys.has(key) ? [...keys].filter((each) => each !== key) : [...keys, key]));
  const cards = isPrinting || !pan.size ? drawing.cards : drawing.cards.filter((card) => isSeen(card, pan.view, pan.size!));
  const reachable = pickReachable(cards, focused, selected);
  const { scale, x, y } = pan.view;
  const isWhole = !pan.size || isInside({ ...drawing, x: 0, y: 0 }, pan.view, pan.size);
  const place = isPrinting ? { viewBox: `-4 -4 ${drawing.width + 8} ${drawing.height + 8}`, style: { maxWidth: `${drawing.width}px` } } : {};
  return (
    <>
      <div class="plan-graph box" ref={room} style={{ height: fitHeight(drawing, room.current?.clientWidth ?? innerWidth) }} {...pan.handlers}>
        <svg class="plan-drawing" role="group" aria-label={`The plan: ${countOf(byPath.size, "task")}; arrow keys move between them`} {...place}>
          <EdgeMarkers />
          <g transform={isPrinting ? undefined : `translate(${x} ${y}) scale(${scale})`}>
            {drawing.frames.map((frame) => (
              <PlanFrame key={frame.key} frame={frame} isRelated={!frame.isOpen && frame.tasks.some((task) => related.has(task.path))} onToggle={toggle} />
            ))}
            <PlanEdges drawing={drawing} selected={selected} direction={direction} />
            {cards.map((placed) => (
              <TaskCard
                key={placed.task.path}
                placed={placed}
                isSelected={placed.task.path === selected}
                isRelated={related.has(placed.task.path)}
                isReachable={placed === reachable}
                onSelect={select}
              />
            ))}
          </g>
        </svg>
      </div>
      <div class="tools">
        <PlanLegend tasks={[...byPath.values()]} isTable={drawing.isTable} />
        {!isPrinting && !isWhole && <span class="plan-hint soft small no-print">a part of the drawing: drag it, or enlarge it with Ctrl and the wheel</span>}
        <div class="plan-controls no-print" role="group" aria-label="Size of the drawing">
          <button type="button" onClick={pan.zoomIn} aria-label="Enlarge">+</button>
          <button type="button" onClick={pan.zoomOut} aria-label="Reduce">−</button>
          <button type="button" onClick={pan.fit}>Fit</button>
        </div>
      </div>
    </>
  );
}

/** Return the height that shows the drawing as wide as it can be, in CSS. */
function fitHeight({ width, height }: PlanLayout, room: number): string {
  const scale = Math.min(1, Math.max(0.6, room / Math.max(1, width)));
  return `clamp(9rem, ${Math.ceil(scale * height) + 3 * MARGIN}px, 70vh)`;
}

const findRelated = (task: TaskView | undefined): ReadonlySet<string> =>
  new Set(task ? [...task.needs.map((need) => need.path), ...task.dependants] : []);

const pickReachable = (cards: readonly PlacedCard[], ...paths: string[]): PlacedCard | undefined =>
  paths.map((path) => cards.find((card) => card.task.path === path)).find(Boolean) ?? cards[0];

interface EdgesProps {
  drawing: PlanLayout;
  selected: string;
  direction: "LR" | "TB";
}

function PlanEdges({ drawing, selected, direction }: EdgesProps) {
  const holder = drawing.frames.find((frame) => frame.isGroup && frame.tasks.some((task) => task.path === selected));
  const end = holder?.key ?? selected;
  const shown = drawing.isTable ? drawing.edges.filter((edge) => edge.isCritical || edge.from === end || edge.to === end) : drawing.edges;
  return (
    <g aria-hidden="true">
      {shown.map((edge) => (
        <path key={`${edge.from}>${edge.to}`} class={edgeClass(edge, end)} d={drawEdge(edge.points, drawing.isTable ? "LR" : direction)} marker-end={`url(#${markerOf(edge)})`} />
      ))}
    </g>
  );
}

const markerOf = (edge: PlacedEdge): string => (edge.isMissing ? "arrow-missing" : edge.isCritical ? "arrow-critical" : "arrow");

function edgeClass(edge: PlacedEdge, selected: string): string {
  const touches = selected !== "" && (edge.from === selected || edge.to === selected);
  const marks = [!edge.required && "is-optional", edge.isMissing && "is-missing", edge.isCritical && "is-critical", touches && "is-related"];
  return ["edge", ...marks].filter(Boolean).join(" ");
}

const EdgeMarkers = () => (
  <defs>
    {["arrow", "arrow-critical", "arrow-missing"].map((id) => (
      <marker key={id} id={id} class={id} viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto">
        <path d="M0 0.5 L8 4 L0 7.5 z" />
      </marker>
    ))}
  </defs>
);

/** What the signs and the lines of the drawing mean. */
function PlanLegend({ tasks, isTable }: { tasks: readonly TaskView[]; isTable: boolean }) {
  const needs = tasks.flatMap((task) => task.needs);
  return (
    <ul class="legend bare flow small soft">
      {[...countStates(tasks)].map(([state, count]) => (
        <li key={state} class={stateClass(state)}>
          <span class="legend-state" aria-hidden="true">{STATE_GLYPHS[state]}</span>{" "}
          {count} {labelState(state)}
        </li>
      ))}
      {tasks.some((task) => task.isCritical) && <LegendLine mark="is-critical" label="slowest chain" />}
      {isTable && <li>a row for each worker, a column for each step; other edges of the selected task only</li>}
      {!isTable && needs.some((need) => need.required) && <LegendLine mark="" label="required" />}
      {!isTable && needs.some((need) => !need.required) && <LegendLine mark="is-optional" label="optional" />}
      {needs.some((need) => need.isMissing) && <LegendLine mark="is-missing" label="without a result" />}
    </ul>
  );
}

const LegendLine = ({ mark, label }: { mark: string; label: string }) => (
  <li>
    <svg width="28" height="10" aria-hidden="true">
      <path class={`edge ${mark}`} d="M0 5H28" />
    </svg>{" "}
    {label}
  </li>
);
