import { expect, test } from "vitest";
import type { Plan } from "../src/model/trace";
import { findNeighbour, type Direction } from "../src/model/view-box";
import { placeDraft } from "../src/plan-editor/draft-graph";
import * as drafts from "../src/plan-editor/draft";

const need = (task: string, required = true) => ({ task, required });
const PLAN: Plan = {
  goal: "Compare the parts.",
  version: 1,
  tasks: [
    { id: "a", description: "Read a.", worker: "reader", depends_on: [] },
    { id: "b", description: "Read b.", worker: "reader", depends_on: [need("a")] },
    { id: "c", description: "Write.", worker: "writer", depends_on: [need("b", false)] },
  ],
};
const DRAFT = drafts.beginDraft(PLAN);
const listNeeds = (draft: drafts.Draft, id: string) => draft.tasks.find((task) => task.id === id)?.depends_on;

test("a further task has an id that no other task has", () => {
  const once = drafts.addTask(drafts.changeTask(DRAFT, "a", { id: "task_4" }), "reader", []);

  expect(once.id).toBe("task_5");
  expect(drafts.addTask(once.draft, "reader", []).id).toBe("task_6");
});

test("a further task can read the files that the plan reads", () => {
  const withFiles = { ...DRAFT, tasks: DRAFT.tasks.map((task) => ({ ...task, materials: ["a.csv"] })) };

  expect(drafts.addTask(withFiles, "reader", ["b.csv"]).draft.tasks.at(-1)!.materials).toEqual(["b.csv", "a.csv"]);
});

test("the first task without words is found before the draft is sent", () => {
  expect(drafts.findEmpty(DRAFT)).toBeUndefined();
  expect(drafts.findEmpty(drafts.changeTask(DRAFT, "b", { description: " " }))?.id).toBe("b");
  expect(drafts.findEmpty(drafts.addTask(DRAFT, "reader", []).draft)?.id).toBe("task_4");
});

test("what needed a removed task needs it no longer", () => {
  const left = drafts.removeTask(DRAFT, "a");

  expect(left.tasks.map(({ id }) => id)).toEqual(["b", "c"]);
  expect(listNeeds(left, "b")).toEqual([]);
});

test("what needs a renamed task follows its new id", () => {
  expect(listNeeds(drafts.changeTask(DRAFT, "a", { id: "first" }), "b")).toEqual([need("first")]);
});

test("a task cannot wait for itself, also not through others", () => {
  expect(drafts.canConnect(DRAFT, "a", "c")).toBe(false);
  expect(drafts.canConnect(DRAFT, "a", "a")).toBe(false);
  expect(drafts.connect(DRAFT, "a", "c")).toBe(DRAFT);
  expect(listNeeds(drafts.connect(DRAFT, "c", "a"), "c")).toEqual([need("b", false), need("a")]);
});

test("a connection becomes optional in place of a second one", () => {
  expect(listNeeds(drafts.connect(DRAFT, "b", "a", false), "b")).toEqual([need("a", false)]);
});

test("a draft that was changed back is unchanged", () => {
  const there = drafts.connect(DRAFT, "c", "a");

  expect(drafts.isChanged(there, PLAN)).toBe(true);
  expect(drafts.isChanged(drafts.disconnect(there, "c", "a"), PLAN)).toBe(false);
});

test("an id is refused for its letters, or as another task has it", () => {
  expect(drafts.findIdProblem(DRAFT, "a", "a b")).not.toBe("");
  expect(drafts.findIdProblem(DRAFT, "a", "b")).toBe("another task has this id");
  expect(drafts.findIdProblem(DRAFT, "a", "a")).toBe("");
});

test("a problem is shown at the task that it names, by id or by place", () => {
  const problems = ["task 'b' is vague: no object", "tasks[2].description: is empty", "too many tasks"];

  expect(drafts.nameTasks(DRAFT, problems[1]!)).toBe("Task “c”: description: is empty");
  expect(["a", "b", "c"].map((id) => drafts.selectProblems(DRAFT, problems, id))).toEqual([[], [problems[0]], [problems[1]]]);
});

test("a problem is told in words of the form", () => {
  expect(drafts.nameTasks(DRAFT, "tasks[1].description: String should have at least 1 character")).toBe("Task “b”: say what to do");
  expect(drafts.nameTasks(DRAFT, "tasks[1].description: String should have at most 4000 characters")).toBe("Task “b”: description: may have at most 4000 characters");
});

test("arrow keys lead to the nearest task on their side", () => {
  const picture = placeDraft(drafts.addTask(DRAFT, "reader", []).draft);
  const findNext = (from: string, direction: Direction) => findNeighbour(picture.boxes, picture.boxes.find(({ id }) => id === from)!, direction)?.id;
  expect(findNext("a", "right")).toBe("b");
  expect(findNext("b", "left")).toBe("a");
  expect(findNext("a", "left")).toBeUndefined();
  const [upper, lower] = picture.boxes.filter(({ id }) => id === "a" || id === "task_4").sort((one, other) => one.y - other.y);
  expect(findNext(upper!.id, "down")).toBe(lower!.id);
});
