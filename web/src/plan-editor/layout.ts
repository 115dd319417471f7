/** Where the tasks of a draft are drawn. */

import { Graph, layout } from "@dagrejs/dagre";
import { drawEdge } from "../model/edge-path";
import type { Point } from "../model/plan-layout";
import type { Draft } from "./draft";

export const BOX = { width: 168, height: 52 };

export interface PlacedEdge {
  from: string;
  to: string;
  required: boolean;
  path: string;
}

export interface Layout {
  width: number;
  height: number;
  boxes: { id: string; x: number; y: number }[];
  edges: PlacedEdge[];
}

/** Return what the picture of a draft depends on. */
export const nameForm = ({ tasks }: Draft): string => JSON.stringify(tasks.map(({ id, depends_on }) => [id, depends_on]));

/** Return the picture of a draft, from left to right; needs that the draft has no task for are left out. */
export function placeDraft({ tasks }: Draft): Layout {
  const graph = new Graph();
  graph.setGraph({ rankdir: "LR", nodesep: 18, ranksep: 46, marginx: 8, marginy: 8 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { id } of tasks) graph.setNode(id, { ...BOX });
  for (const { id, depends_on } of tasks) {
    for (const { task } of depends_on) if (graph.hasNode(task)) graph.setEdge(task, id);
  }
  layout(graph);
  const find = (id: string) => graph.node(id) as Point;
  const boxes = tasks.map(({ id }) => ({ id, x: find(id).x - BOX.width / 2, y: find(id).y - BOX.height / 2 }));
  const edges = tasks.flatMap(({ id, depends_on }) =>
    depends_on.filter(({ task }) => graph.hasNode(task)).map(({ task, required }) => {
      const { points } = graph.edge(task, id) as { points: Point[] };
      return { from: task, to: id, required, path: drawArrow(find(task), find(id), points.slice(1, -1)) };
    }),
  );
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  return { width, height, boxes, edges };
}

/** By the arrow key: right and down as numbers of steps. */
const STEPS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowRight: [1, 0],
  ArrowLeft: [-1, 0],
  ArrowDown: [0, 1],
  ArrowUp: [0, -1],
};

/** Return the task to which an arrow key leads from another one: the nearest on that side; empty for none. */
export function findNext({ boxes }: Layout, id: string, key: string): string {
  const [right, down] = STEPS[key] ?? [0, 0];
  const from = boxes.find((box) => box.id === id)!;
  const ahead = boxes.flatMap((box) => {
    const [x, y] = [box.x - from.x, box.y - from.y];
    const along = x * right + y * down;
    // What is off to the side is farther than what is straight ahead.
    return along > 0 ? [{ id: box.id, far: along + 3 * Math.abs(x * down + y * right) }] : [];
  });
  return ahead.sort((one, other) => one.far - other.far)[0]?.id ?? "";
}

/** Return an edge from the right of one box to the left of another, past the points between them. */
function drawArrow(from: Point, to: Point, between: readonly Point[]): string {
  const start = { x: from.x + BOX.width / 2, y: from.y };
  const end = { x: to.x - BOX.width / 2, y: to.y };
  return drawEdge([start, ...(between.length > 1 ? between : []), end], "LR");
}
