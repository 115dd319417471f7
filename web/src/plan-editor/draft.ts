/** A plan while it is edited: pure functions that return another draft. The server has the last word on what is valid. */

import type { Dependency, Plan, PlannedTask } from "../model/trace";

export interface Draft {
  goal: string;
  tasks: PlannedTask[];
}

const ID = /^[A-Za-z0-9_.-]{1,40}$/;

export const beginDraft = (plan: Plan): Draft => ({ goal: plan.goal, tasks: plan.tasks });

export const isChanged = (draft: Draft, plan: Plan): boolean =>
  JSON.stringify(draft) !== JSON.stringify(beginDraft(plan));

/** Return the draft with a further task, which gets all files, and the task's id. */
export function addTask(draft: Draft, worker: string, files: readonly string[]): { draft: Draft; id: string } {
  const known = new Set(draft.tasks.map(({ id }) => id));
  let number = draft.tasks.length + 1;
  while (known.has(`task_${number}`)) number += 1;
  const id = `task_${number}`;
  const materials = listFiles(draft, files);
  const task: PlannedTask = { id, description: "", worker, depends_on: [], materials };
  return { draft: { ...draft, tasks: [...draft.tasks, task] }, id };
}

/** Return the files of a request, and those of its tasks: one that is added or gets another worker could else read nothing. */
export const listFiles = (draft: Draft, files: readonly string[]): string[] => [...new Set([...files, ...draft.tasks.flatMap((each) => each.materials ?? [])])];

/** Return the draft without a task; those that needed it need it no longer. */
export const removeTask = (draft: Draft, id: string): Draft => ({
  ...draft,
  tasks: draft.tasks
    .filter((task) => task.id !== id)
    .map((task) => ({ ...task, depends_on: task.depends_on.filter((edge) => edge.task !== id) })),
});

/** Return the draft with other fields of a task; a new id is followed by what needs the task. */
export function changeTask(draft: Draft, id: string, fields: Partial<PlannedTask>): Draft {
  const renamed = fields.id ?? id;
  const follow = (edge: Dependency) => (edge.task === id ? { ...edge, task: renamed } : edge);
  return {
    ...draft,
    tasks: draft.tasks.map((task) => {
      // Other words may answer other parts of the request.
      const changed = task.id === id ? { ...task, ...fields, ...(fields.description !== undefined && { covers: [] }) } : task;
      return renamed === id ? changed : { ...changed, depends_on: changed.depends_on.map(follow) };
    }),
  };
}

/** Return the draft in which a task needs another one, perhaps only if that succeeds. */
export function connect(draft: Draft, id: string, needed: string, required = true): Draft {
  if (!canConnect(draft, id, needed)) return draft;
  return mapEdges(draft, id, (edges) => [...edges.filter(({ task }) => task !== needed), { task: needed, required }]);
}

export const disconnect = (draft: Draft, id: string, needed: string): Draft =>
  mapEdges(draft, id, (edges) => edges.filter(({ task }) => task !== needed));

const mapEdges = (draft: Draft, id: string, change: (edges: Dependency[]) => Dependency[]): Draft => ({
  ...draft,
  tasks: draft.tasks.map((task) => (task.id === id ? { ...task, depends_on: change(task.depends_on) } : task)),
});

/** Return whether a task may need another one: it must not wait for itself. */
export const canConnect = (draft: Draft, id: string, needed: string): boolean =>
  draft.tasks.some((task) => task.id === needed) && !findDependants(draft, id).has(needed);

/** Return a task and all that wait for it. */
export function findDependants({ tasks }: Draft, id: string): ReadonlySet<string> {
  const needing = new Map<string, string[]>();
  for (const task of tasks) for (const edge of task.depends_on) needing.set(edge.task, [...(needing.get(edge.task) ?? []), task.id]);
  const found = new Set([id]);
  for (const name of found) for (const next of needing.get(name) ?? []) found.add(next); // a set is walked with what is added
  return found;
}

/** Return why an id cannot be used for a task; empty if it can. */
export function findIdProblem(draft: Draft, id: string, given: string): string {
  if (!ID.test(given)) return "1 to 40 letters, digits and _ . -";
  return given !== id && draft.tasks.some((task) => task.id === given) ? "another task has this id" : "";
}

/** Return the first task that says nothing; undefined where each says what to do. */
export const findEmpty = ({ tasks }: Draft): PlannedTask | undefined => tasks.find(({ description }) => !description.trim());

/** Return the problems that name a task, as the server writes them: task 'ID' …, or tasks[NUMBER]. */
export function selectProblems(draft: Draft, problems: readonly string[], id: string): string[] {
  const place = `tasks[${draft.tasks.findIndex((task) => task.id === id)}]`;
  return problems.filter((problem) => problem.includes(`'${id}'`) || problem.includes(place));
}

/** What is wrong with a task without a description. */
export const NO_WORDS = "say what to do";
const EMPTY = "String should have at least 1 character";

/** Return a problem with the id of a task in place of its number, with which the server counts. */
export const nameTasks = (draft: Draft, problem: string): string =>
  problem.replace(`description: ${EMPTY}`, NO_WORDS).replace(EMPTY, "must not be empty").replace("String should have at most", "may have at most").replace(/tasks\[(\d{1,4})\]\.?/g, (said, number: string) => {
    const task = draft.tasks[Number(number)];
    return task ? `Task “${task.id}”: ` : said;
  });
