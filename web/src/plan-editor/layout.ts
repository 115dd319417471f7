/** Where the tasks of a draft are drawn. */

import { Graph, layout } from "@dagrejs/dagre";
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
  const boxes = tasks.map(({ id }) => {
    const { x, y } = graph.node(id) as { x: number; y: number };
    return { id, x: x - BOX.width / 2, y: y - BOX.height / 2 };
  });
  const edges = tasks.flatMap(({ id, depends_on }) =>
    depends_on.filter(({ task }) => graph.hasNode(task)).map(({ task, required }) => {
      const { points } = graph.edge(task, id) as { points: { x: number; y: number }[] };
      return { from: task, to: id, required, path: `M${points.map(({ x, y }) => `${x},${y}`).join("L")}` };
    }),
  );
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  return { width, height, boxes, edges };
}
