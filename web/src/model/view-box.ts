import type { Box, Point, Size } from "./plan-layout";

/** Which part of a drawing is seen: its scale, and where its origin is in the window, in pixels. */
export interface View extends Point {
  scale: number;
}

export const MARGIN = 12;
const MIN_SCALE = 0.05;
const MAX_SCALE = 3;
/** Below this scale the names on cards cannot be read. */
const LEGIBLE_SCALE = 0.55;

/** Return the view of the whole drawing, not enlarged. */
export function fitView(drawing: Size, room: Size): View {
  const wide = (room.width - 2 * MARGIN) / Math.max(1, drawing.width);
  const high = (room.height - 2 * MARGIN) / Math.max(1, drawing.height);
  const scale = Math.max(MIN_SCALE, Math.min(1, wide, high));
  return { scale, x: (room.width - scale * drawing.width) / 2, y: (room.height - scale * drawing.height) / 2 };
}

/** Return the first view: the whole drawing; where that could not be read, as much of its width as can, from its first box on. */
export function startView(drawing: Size, room: Size, first: Box | undefined): View {
  const whole = fitView(drawing, room);
  if (whole.scale >= LEGIBLE_SCALE) return whole;
  const scale = Math.min(1, Math.max(LEGIBLE_SCALE + 0.1, (room.width - 2 * MARGIN) / Math.max(1, drawing.width)));
  const view = { scale, x: Math.max(MARGIN, (room.width - scale * drawing.width) / 2), y: MARGIN };
  return first ? showBox(view, first, room) : view;
}

/** Return the box where a reader begins: of the first layer the nearest to the corner. */
export function findFirst<Placed extends Box>(boxes: readonly Placed[], direction: "LR" | "TB"): Placed | undefined {
  const [along, across] = direction === "LR" ? (["x", "y"] as const) : (["y", "x"] as const);
  return [...boxes].sort((one, other) => one[along] - other[along] || one[across] - other[across])[0];
}

/** Return the view enlarged by a factor around a point of the window. */
export function zoomView(view: View, factor: number, point: Point): View {
  const scale = Math.min(MAX_SCALE, Math.max(MIN_SCALE, view.scale * factor));
  const ratio = scale / view.scale;
  return { scale, x: point.x - ratio * (point.x - view.x), y: point.y - ratio * (point.y - view.y) };
}

/** Return the view moved as little as shows a box whole. */
export function showBox(view: View, box: Box, room: Size): View {
  const move = (start: number, size: number, origin: number, space: number) => {
    const [first, last] = [view.scale * start + origin, view.scale * (start + size) + origin];
    if (first < MARGIN) return origin + MARGIN - first;
    return last > space - MARGIN ? origin - Math.min(last - space + MARGIN, first - MARGIN) : origin;
  };
  return { ...view, x: move(box.x, box.width, view.x, room.width), y: move(box.y, box.height, view.y, room.height) };
}

/** Return whether a box is at least partly in the window. */
export const isSeen = (box: Box, view: View, room: Size): boolean =>
  view.scale * (box.x + box.width) + view.x >= 0 &&
  view.scale * box.x + view.x <= room.width &&
  view.scale * (box.y + box.height) + view.y >= 0 &&
  view.scale * box.y + view.y <= room.height;

/** Return whether a box is whole in the window. */
export const isInside = (box: Box, view: View, room: Size): boolean =>
  view.scale * box.x + view.x >= 0 &&
  view.scale * box.y + view.y >= 0 &&
  view.scale * (box.x + box.width) + view.x <= room.width &&
  view.scale * (box.y + box.height) + view.y <= room.height;

export type Direction = "left" | "right" | "up" | "down";

export const ARROWS: Readonly<Record<string, Direction>> = { ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down" };
/** To the right, and down. */
const STEPS: Readonly<Record<Direction, readonly [number, number]>> = { left: [-1, 0], right: [1, 0], up: [0, -1], down: [0, 1] };

/** Return the nearest box in a direction; undefined at the edge. */
export function findNeighbour<Placed extends Box>(boxes: readonly Placed[], from: Placed, direction: Direction): Placed | undefined {
  const [right, down] = STEPS[direction];
  const ahead = boxes.flatMap((box) => {
    const [x, y] = [box.x + box.width / 2 - from.x - from.width / 2, box.y + box.height / 2 - from.y - from.height / 2];
    const along = x * right + y * down;
    // What is off to the side is farther than what is straight ahead.
    return along > 1 ? [{ box, far: along + 2 * Math.abs(x * down + y * right) }] : [];
  });
  return ahead.sort((one, other) => one.far - other.far)[0]?.box;
}
