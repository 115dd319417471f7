import { Graph, layout } from "@dagrejs/dagre";
import { joinBlocks, makeBlocks, type Block, type BlockEdge } from "./plan-blocks";
import type { TaskView } from "./task-view";

export const CARD = { width: 208, height: 52 } as const;
const GAP = 12;
const FRAME_PADDING = 12;
const FRAME_HEADING = 28;
const CLOSED_HEIGHT = 64;

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface PlacedCard extends Box {
  task: TaskView;
}

/** The frame of a group or of an inner team; a closed one is a card itself. */
export interface PlacedFrame extends Box {
  key: string;
  title: string;
  tasks: TaskView[];
  isOpen: boolean;
  isGroup: boolean;
}

export interface PlacedEdge extends BlockEdge {
  points: { x: number; y: number }[];
}

/** A drawn plan; lengths are in units of the drawing. */
export interface PlanLayout {
  width: number;
  height: number;
  cards: PlacedCard[];
  frames: PlacedFrame[];
  edges: PlacedEdge[];
}

export interface LayoutOptions {
  direction: "LR" | "TB";
  /** Whether a group or the team of a task is open, by its key. */
  isOpen: (key: string) => boolean;
}

/** Return the key of the frame around a task's inner team. */
export const teamKey = (task: TaskView): string => `team of ${task.path}`;

/** Return where each task of a plan is drawn. */
export function layoutPlan(tasks: readonly TaskView[], options: LayoutOptions): PlanLayout {
  const blocks = makeBlocks(tasks);
  const drawn = new Map(blocks.map((block) => [block.key, drawBlock(block, options)]));
  const graph = new Graph();
  graph.setGraph({ rankdir: options.direction, nodesep: 20, ranksep: 56, edgesep: 12 });
  for (const [key, { width, height }] of drawn) graph.setNode(key, { width, height });
  const edges = joinBlocks(blocks);
  for (const edge of edges) graph.setEdge(edge.from, edge.to, {});
  layout(graph);
  const whole: PlanLayout = { width: 0, height: 0, cards: [], frames: [], edges: [] };
  for (const [key, part] of drawn) {
    const { x, y } = graph.node(key) as { x: number; y: number };
    addPart(whole, part, x - part.width / 2, y - part.height / 2);
  }
  for (const edge of edges) {
    const { points } = graph.edge(edge.from, edge.to) as { points: { x: number; y: number }[] };
    whole.edges.push({ ...edge, points });
  }
  const boxes = [...whole.cards, ...whole.frames];
  whole.width = boxes.reduce((most, box) => Math.max(most, box.x + box.width), 0);
  whole.height = boxes.reduce((most, box) => Math.max(most, box.y + box.height), 0);
  return whole;
}

function addPart(whole: PlanLayout, part: PlanLayout, x: number, y: number): void {
  const move = <Placed extends Box>(box: Placed): Placed => ({ ...box, x: box.x + x, y: box.y + y });
  whole.cards.push(...part.cards.map(move));
  whole.frames.push(...part.frames.map(move));
  const movePoint = (point: { x: number; y: number }) => ({ x: point.x + x, y: point.y + y });
  whole.edges.push(...part.edges.map((edge) => ({ ...edge, points: edge.points.map(movePoint) })));
}

function drawBlock(block: Block, options: LayoutOptions): PlanLayout {
  if (block.isGroup) return options.isOpen(block.key) ? drawGrid(block) : drawClosed(block);
  const task = block.tasks[0]!;
  return task.inner.length ? drawTeam(task, options) : drawCard(task);
}

const drawCard = (task: TaskView): PlanLayout => ({
  ...CARD,
  cards: [{ task, x: 0, y: 0, ...CARD }],
  frames: [],
  edges: [],
});

function drawClosed(block: Block): PlanLayout {
  const size = { width: CARD.width, height: CLOSED_HEIGHT };
  const { key, title, tasks } = block;
  return { ...size, cards: [], frames: [{ key, title, tasks, isOpen: false, isGroup: true, x: 0, y: 0, ...size }], edges: [] };
}

function drawGrid(block: Block): PlanLayout {
  const rows = Math.min(block.tasks.length, Math.max(4, Math.round(Math.sqrt(1.2 * block.tasks.length))));
  const columns = Math.ceil(block.tasks.length / rows);
  const cards = block.tasks.map((task, index) => ({
    task,
    x: FRAME_PADDING + Math.floor(index / rows) * (CARD.width + GAP),
    y: FRAME_HEADING + (index % rows) * (CARD.height + GAP),
    ...CARD,
  }));
  const width = 2 * FRAME_PADDING + columns * (CARD.width + GAP) - GAP;
  const height = FRAME_HEADING + FRAME_PADDING + rows * (CARD.height + GAP) - GAP;
  const { key, title, tasks } = block;
  return { width, height, cards, frames: [{ key, title, tasks, isOpen: true, isGroup: true, x: 0, y: 0, width, height }], edges: [] };
}

/** Return the card of a task and, below it where the frame is open, the plan of the team that did it. */
function drawTeam(task: TaskView, options: LayoutOptions): PlanLayout {
  const key = teamKey(task);
  const isOpen = options.isOpen(key);
  const inner = isOpen ? layoutPlan(task.inner, options) : { ...drawCard(task), width: 0, height: 0, cards: [] };
  const top = FRAME_HEADING + CARD.height + (isOpen ? GAP : 0);
  const width = 2 * FRAME_PADDING + Math.max(CARD.width, inner.width);
  const height = top + inner.height + FRAME_PADDING;
  const title = `team ${task.traced.team?.name ?? ""}`.trim();
  const drawn: PlanLayout = {
    width,
    height,
    cards: [{ task, x: FRAME_PADDING, y: FRAME_HEADING, ...CARD }],
    frames: [{ key, title, tasks: task.inner, isOpen, isGroup: false, x: 0, y: 0, width, height }],
    edges: [],
  };
  addPart(drawn, inner, FRAME_PADDING, top);
  return drawn;
}

/** Return the path of an edge as a smooth line through its points. */
export function drawEdge(points: readonly { x: number; y: number }[]): string {
  const at = ({ x, y }: { x: number; y: number }) => `${x.toFixed(1)} ${y.toFixed(1)}`;
  const [first, ...others] = points;
  if (!first || !others.length) return "";
  const curves = others.slice(0, -1).map((point, index) => {
    const next = others[index + 1]!;
    const middle = index === others.length - 2 ? next : { x: (point.x + next.x) / 2, y: (point.y + next.y) / 2 };
    return `Q${at(point)} ${at(middle)}`;
  });
  return curves.length ? `M${at(first)}${curves.join("")}` : `M${at(first)}L${at(others[0]!)}`;
}
