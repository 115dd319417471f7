import { Graph, layout, type GraphLabel } from "@dagrejs/dagre";
import { joinBlocks, makeBlocks, makeTableBlocks, type Block, type BlockEdge } from "./plan-blocks";
import type { TaskView } from "./task-view";

export const CARD = { width: 208, height: 52 } as const;
const GAP = 12;
const FRAME_PADDING = 12;
const FRAME_HEADING = 28;
const CLOSED_HEIGHT = 64;

export interface Size {
  width: number;
  height: number;
}

export interface Point {
  x: number;
  y: number;
}

export interface Box extends Point, Size {}

export interface PlacedCard extends Box {
  task: TaskView;
}

/** The frame of a group or of an inner team; a closed one is a card itself. */
export interface PlacedFrame extends Box, Block {
  isOpen: boolean;
}

export interface PlacedEdge extends BlockEdge {
  points: Point[];
}

/** A drawn plan; lengths are in units of the drawing. */
export interface PlanLayout extends Size {
  cards: PlacedCard[];
  frames: PlacedFrame[];
  edges: PlacedEdge[];
  /** A column for each depth and a row for each worker: too many edges to show them all. */
  isTable: boolean;
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
  const placed = blocks ? placeLayers(blocks, options) : placeTable(makeTableBlocks(tasks), options);
  const boxes = [...placed.cards, ...placed.frames];
  placed.width = boxes.reduce((most, box) => Math.max(most, box.x + box.width), 0);
  placed.height = boxes.reduce((most, box) => Math.max(most, box.y + box.height), 0);
  return placed;
}

/** Return a text that is equal for plans that are drawn alike, whatever their tasks have done since. */
export const describeShape = (tasks: readonly TaskView[]): string =>
  JSON.stringify(
    tasks.map((task) => [task.path, task.worker, task.isCritical, task.needs, describeShape(task.inner)]),
  );

/** Return a drawing with the present states of its tasks. */
export function refreshTasks(drawing: PlanLayout, byPath: ReadonlyMap<string, TaskView>): PlanLayout {
  const find = (task: TaskView) => byPath.get(task.path) ?? task;
  return {
    ...drawing,
    cards: drawing.cards.map((card) => ({ ...card, task: find(card.task) })),
    frames: drawing.frames.map((frame) => ({ ...frame, tasks: frame.tasks.map(find) })),
  };
}

const makeEmpty = (isTable = false): PlanLayout => ({ width: 0, height: 0, cards: [], frames: [], edges: [], isTable });

function placeLayers(blocks: Block[], options: LayoutOptions): PlanLayout {
  const drawn = new Map(blocks.map((block) => [block.key, drawBlock(block, options)]));
  const { boxes, edges } = placeGraph(drawn, joinBlocks(blocks), { direction: options.direction, nodesep: 20, ranksep: 56, edgesep: 12 });
  const whole = makeEmpty();
  for (const [key, part] of drawn) addPart(whole, part, boxes.get(key)!);
  whole.edges.push(...edges);
  return whole;
}

/** Return where boxes of some sizes stand in layers, and the edges between them. */
export function placeGraph<Edge extends { from: string; to: string }>(sizes: ReadonlyMap<string, Size>, edges: readonly Edge[], settings: GraphLabel & Pick<LayoutOptions, "direction">) {
  const graph = new Graph();
  graph.setGraph({ ...settings, rankdir: settings.direction });
  for (const [key, { width, height }] of sizes) graph.setNode(key, { width, height });
  for (const { from, to } of edges) graph.setEdge(from, to, {});
  layout(graph);
  const boxes = new Map<string, Box>();
  for (const [key, { width, height }] of sizes) {
    const centre = graph.node(key) as Point;
    boxes.set(key, { x: centre.x - width / 2, y: centre.y - height / 2, width, height });
  }
  const placed = edges.map((edge) => {
    const { points } = graph.edge(edge.from, edge.to) as { points: Point[] };
    const [start, end] = findPorts(boxes.get(edge.from)!, boxes.get(edge.to)!, settings.direction);
    // With three points the edge is between neighbours, and the middle one is of no use.
    return { ...edge, points: [start, ...(points.length > 3 ? points.slice(1, -1) : []), end] };
  });
  return { boxes, edges: placed, ...(graph.graph() as Size) };
}

/** Return where an edge leaves a box and enters another one. */
function findPorts(from: Box, to: Box, direction: LayoutOptions["direction"]): [Point, Point] {
  const port = (box: Box, across: number, down: number): Point => ({ x: box.x + across * box.width, y: box.y + down * box.height });
  return direction === "TB" ? [port(from, 0.5, 1), port(to, 0.5, 0)] : [port(from, 1, 0.5), port(to, 0, 0.5)];
}

/** Return a column for each depth and a row for each worker. */
function placeTable(blocks: Block[], options: LayoutOptions): PlanLayout {
  const workers = [...new Set(blocks.map((block) => block.tasks[0]!.worker))].sort();
  const cells = blocks.map((block) => {
    const { depth, worker } = block.tasks[0]!;
    return { block, column: depth, row: workers.indexOf(worker), part: drawBlock(block, options) };
  });
  const widths: number[] = [];
  const heights: number[] = [];
  for (const { column, row, part } of cells) {
    widths[column] = Math.max(widths[column] ?? 0, part.width);
    heights[row] = Math.max(heights[row] ?? 0, part.height);
  }
  const [lefts, tops] = [addUp(widths, 4 * GAP), addUp(heights, GAP)];
  const whole = makeEmpty(true);
  const boxes = new Map<string, Box>();
  for (const { block, column, row, part } of cells) {
    const box = { x: lefts[column]!, y: tops[row]!, width: part.width, height: part.height };
    boxes.set(block.key, box);
    addPart(whole, part, box);
  }
  for (const edge of joinBlocks(blocks)) {
    whole.edges.push({ ...edge, points: findPorts(boxes.get(edge.from)!, boxes.get(edge.to)!, "LR") });
  }
  return whole;
}

/** Return where each of some lengths begins, one after another. */
function addUp(lengths: number[], gap: number): number[] {
  let start = 0;
  return Array.from(lengths, (length) => {
    const at = start;
    start += (length ?? 0) + gap;
    return at;
  });
}

function addPart(whole: PlanLayout, part: PlanLayout, { x, y }: Point): void {
  const move = <Placed extends Point>(placed: Placed): Placed => ({ ...placed, x: placed.x + x, y: placed.y + y });
  whole.cards.push(...part.cards.map(move));
  whole.frames.push(...part.frames.map(move));
  whole.edges.push(...part.edges.map((edge) => ({ ...edge, points: edge.points.map(move) })));
}

function drawBlock(block: Block, options: LayoutOptions): PlanLayout {
  if (block.isGroup) return options.isOpen(block.key) ? drawGrid(block) : drawFrame({ ...block, isOpen: false }, CARD.width, CLOSED_HEIGHT);
  const task = block.tasks[0]!;
  return task.inner.length ? drawTeam(task, options) : drawCard(task);
}

const drawCard = (task: TaskView): PlanLayout => ({ ...makeEmpty(), ...CARD, cards: [{ task, x: 0, y: 0, ...CARD }] });

const drawFrame = (frame: Omit<PlacedFrame, keyof Box>, width: number, height: number, cards: PlacedCard[] = []): PlanLayout => ({
  ...makeEmpty(),
  width,
  height,
  cards,
  frames: [{ ...frame, x: 0, y: 0, width, height }],
});

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
  return drawFrame({ ...block, isOpen: true }, width, height, cards);
}

/** Return the card of a task and, below it where the frame is open, the plan of the team that did it. */
function drawTeam(task: TaskView, options: LayoutOptions): PlanLayout {
  const key = teamKey(task);
  const isOpen = options.isOpen(key);
  const inner = isOpen ? layoutPlan(task.inner, options) : makeEmpty();
  const top = FRAME_HEADING + CARD.height + (isOpen ? GAP : 0);
  const width = 2 * FRAME_PADDING + Math.max(CARD.width, inner.width);
  const height = top + inner.height + FRAME_PADDING;
  const title = `team ${task.traced.team?.name ?? ""}`.trim();
  const card = { task, x: FRAME_PADDING, y: FRAME_HEADING, ...CARD };
  const drawn = drawFrame({ key, title, tasks: task.inner, isOpen, isGroup: false }, width, height, [card]);
  addPart(drawn, inner, { x: FRAME_PADDING, y: top });
  return drawn;
}

const at = ({ x, y }: Point): string => `${x.toFixed(1)} ${y.toFixed(1)}`;

/** Return the path of an edge: a smooth line through its points that leaves and enters straight. */
export function drawEdge(points: readonly Point[], direction: "LR" | "TB"): string {
  const [first, ...others] = points;
  if (!first) return "";
  let from = first;
  const curves = others.map((to) => {
    const middle = direction === "LR" ? (from.x + to.x) / 2 : (from.y + to.y) / 2;
    const [one, other] =
      direction === "LR" ? [{ x: middle, y: from.y }, { x: middle, y: to.y }] : [{ x: from.x, y: middle }, { x: to.x, y: middle }];
    from = to;
    return `C${at(one)} ${at(other)} ${at(to)}`;
  });
  return `M${at(first)}${curves.join("")}`;
}
