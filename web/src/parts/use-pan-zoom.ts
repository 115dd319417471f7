import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { PlanLayout, Size } from "../model/plan-layout";
import { ARROWS, findFirst, findNeighbour, fitView, MARGIN, showBox, startView, zoomView, type Direction, type View } from "../model/view-box";
import { useSize } from "./use-size";

const ZOOM_STEP = 1.3;
const DRAG_PX = 4;

interface Options {
  selected: string;
  /** In which the drawing is read. */
  direction: "LR" | "TB";
  onFocus: (path: string) => void;
}

/** Lets a drawing be moved and enlarged by pointer, wheel and keys; a task that is selected elsewhere comes into view. */
export function usePanZoom(room: RefObject<HTMLDivElement | null>, drawing: PlanLayout, { selected, direction, onFocus }: Options) {
  const size = useSize(room);
  const [view, setView] = useState<View>({ scale: 1, x: MARGIN, y: MARGIN });
  const isMoved = useRef(false);
  const goesTo = useRef("");
  useLayoutEffect(() => {
    if (size && !isMoved.current) setView(startView(drawing, size, findFirst([...drawing.frames, ...drawing.cards], direction)));
  }, [drawing, size?.width, size?.height]);
  useEffect(() => {
    const card = drawing.cards.find(({ task }) => task.path === selected);
    if (card && size) setView((old) => showBox(old, card, size));
  }, [selected, drawing]);
  useEffect(() => {
    if (!goesTo.current) return;
    room.current?.querySelector<SVGElement>(`[data-path="${CSS.escape(goesTo.current)}"]`)?.focus();
    goesTo.current = "";
  });
  const move = (change: (old: View, size: Size) => View) => {
    isMoved.current = true;
    if (size) setView((old) => change(old, size));
  };
  const zoomAtCentre = (factor: number) =>
    move((old, { width, height }) => zoomView(old, factor, { x: width / 2, y: height / 2 }));
  const goTo = (from: Element, direction: Direction) => {
    const card = drawing.cards.find(({ task }) => task.path === from.getAttribute("data-path"));
    const next = card && findNeighbour(drawing.cards, card, direction);
    if (!next) return;
    goesTo.current = next.task.path;
    onFocus(next.task.path);
    move((old, room) => showBox(old, next, room));
  };
  const zoomIn = () => zoomAtCentre(ZOOM_STEP);
  const zoomOut = () => zoomAtCentre(1 / ZOOM_STEP);
  const fit = () => move((_, room) => fitView(drawing, room));
  const keys: Readonly<Record<string, () => void>> = { "+": zoomIn, "=": zoomIn, "-": zoomOut, "0": fit };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const card = (event.target as Element).closest("[data-path]");
    const direction = ARROWS[event.key];
    if (direction && card) goTo(card, direction);
    else if (card && (event.key === "Enter" || event.key === " ")) card.dispatchEvent(new MouseEvent("click", { bubbles: true }));
    else if (Object.hasOwn(keys, event.key)) keys[event.key]!();
    else return;
    event.preventDefault();
  };
  const onPointerDown = useDrag((dx, dy) => move((old) => ({ ...old, x: old.x + dx, y: old.y + dy })));
  // While Ctrl is held, as a pinch on a touchpad does; else the page scrolls.
  const onWheel = (event: WheelEvent) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const { left, top } = room.current!.getBoundingClientRect();
    move((old) => zoomView(old, Math.exp(-event.deltaY / 300), { x: event.clientX - left, y: event.clientY - top }));
  };
  return { view, size, zoomIn, zoomOut, fit, handlers: { onKeyDown, onPointerDown, onWheel } };
}

/** Return what begins a drag; a drag does not click what is below it. */
function useDrag(onMove: (dx: number, dy: number) => void) {
  return (event: PointerEvent) => {
    if (event.button !== 0) return;
    let [x, y, isDrag] = [event.clientX, event.clientY, false];
    const move = (next: PointerEvent) => {
      isDrag ||= Math.hypot(next.clientX - x, next.clientY - y) > DRAG_PX;
      if (!isDrag) return;
      onMove(next.clientX - x, next.clientY - y);
      [x, y] = [next.clientX, next.clientY];
    };
    const stopClick = (click: MouseEvent) => click.stopPropagation();
    const end = () => {
      removeEventListener("pointermove", move);
      removeEventListener("pointerup", end);
      removeEventListener("pointercancel", end);
      if (!isDrag) return;
      addEventListener("click", stopClick, { capture: true, once: true });
      setTimeout(() => removeEventListener("click", stopClick, { capture: true }));
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", end);
    addEventListener("pointercancel", end);
  };
}
