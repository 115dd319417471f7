import { groupBy } from "./group-by";
import { STATE_GLYPHS, type TaskState, type TaskView } from "./task-view";

/** Tasks that are drawn together: alone, as a grid, or as one card that names their number. */
export interface Block {
  key: string;
  title: string;
  tasks: TaskView[];
  isGroup: boolean;
}

/** An edge between blocks: one or more dependencies. */
export interface BlockEdge {
  from: string;
  to: string;
  /** One of them at least is required. */
  required: boolean;
  /** All of what it leads to ended without these results. */
  isMissing: boolean;
  isCritical: boolean;
}

const MIN_ALIKE = 6;
const MAX_BLOCKS = 80;

/** Return the blocks of a level: tasks alike in what they need and who needs them; null where they are too many. */
export function makeBlocks(tasks: readonly TaskView[]): Block[] | null {
  const alike = groupBy(tasks, (task) => `${task.needs.map((need) => need.path).sort()}>${[...task.dependants].sort()}`);
  const blocks = [...alike.values()].flatMap((group) => (group.length < MIN_ALIKE ? group.map(makeSingle) : [makeGroup(group)]));
  return blocks.length <= MAX_BLOCKS ? blocks : null;
}

/** Return the blocks of a large plan: the tasks of one worker at one depth. */
export const makeTableBlocks = (tasks: readonly TaskView[]): Block[] =>
  [...groupBy(tasks, (task) => `${task.depth}:${task.worker}`).values()].map((group) =>
    group.length === 1 ? makeSingle(group[0]!) : makeGroup(group),
  );

const makeSingle = (task: TaskView): Block => ({ key: task.path, title: task.id, tasks: [task], isGroup: false });

function makeGroup(tasks: TaskView[]): Block {
  const workers = [...new Set(tasks.map((task) => task.worker))];
  const title = workers.length === 1 ? workers[0]! : `${workers.length} workers`;
  return { key: `group of ${tasks[0]!.path}`, title, tasks, isGroup: true };
}

/** Return the edges between blocks; those inside a block are left out. */
export function joinBlocks(blocks: readonly Block[]): BlockEdge[] {
  const blockOf = new Map(blocks.flatMap((block) => block.tasks.map((task) => [task.path, block] as const)));
  const byPath = new Map(blocks.flatMap((block) => block.tasks.map((task) => [task.path, task] as const)));
  const edges = new Map<string, BlockEdge>();
  for (const task of byPath.values()) {
    const to = blockOf.get(task.path)!.key;
    for (const need of task.needs) {
      const from = blockOf.get(need.path)!.key;
      if (from === to) continue;
      const isCritical = task.isCritical && byPath.get(need.path)!.isCritical;
      const edge = edges.get(`${from}>${to}`) ?? { from, to, required: false, isMissing: true, isCritical: false };
      edge.required ||= need.required;
      edge.isMissing &&= need.isMissing;
      edge.isCritical ||= isCritical;
      edges.set(`${from}>${to}`, edge);
    }
  }
  return [...edges.values()];
}

const STATE_ORDER = Object.keys(STATE_GLYPHS) as TaskState[];

/** Return how many tasks are in each state, in the order of `STATE_GLYPHS`. */
export function countStates(tasks: readonly TaskView[]): Map<TaskState, number> {
  const found = groupBy(tasks, ({ state }) => state);
  return new Map(STATE_ORDER.filter((state) => found.has(state)).map((state) => [state, found.get(state)!.length]));
}
