import { describe, expect, test } from "vitest";
import { listTicks } from "../src/parts/timeline-section";
import { listPathSteps, measureLongestChain } from "../src/model/critical-path";
import { formatSeconds, formatUsd } from "../src/model/format";
import { countStates, joinBlocks, makeBlocks } from "../src/model/plan-blocks";
import { describeShape, layoutPlan, refreshTasks, teamKey } from "../src/model/plan-layout";
import { listPlanVersions } from "../src/model/plan-versions";
import { listProblems } from "../src/model/gaps";
import { readTrace } from "../src/model/read-trace";
import { describeRun } from "../src/model/run-state";
import { describeState, flattenTasks, sortByNeeds, viewTasks } from "../src/model/task-view";
import { buildTimeline, listMarks } from "../src/model/timeline";
import type { Trace } from "../src/model/trace";
import { findFirst, findNeighbour, fitView, isInside, showBox, startView, zoomView } from "../src/model/view-box";

interface Given {
  id: string;
  needs?: string[];
  optional?: string[];
  /** Seconds of its start and its end. */
  at?: [number, number];
  status?: string;
  team?: unknown;
}

const makeTask = ({ id, needs = [], optional = [], at, status = "completed", team }: Given) => ({
  id,
  worker: "taster",
  description: `Taste ${id}.`,
  depends_on: [...needs.map((task) => ({ task, required: true })), ...optional.map((task) => ({ task, required: false }))],
  status,
  report: at ? { status, output: "Good.", started_s: at[0], ended_s: at[1] } : null,
  ...(team ? { team } : {}),
});

function makeTrace(given: Given[], run: object = {}, critical: string[] = []): Trace {
  const tasks = given.map(makeTask);
  const starts = given.filter(({ at }) => at).map(({ id, at }) => ({ t: at![0], kind: "task_started", task: id, worker: "taster" }));
  const ends = given.filter(({ at }) => at).map(({ id, at }) => ({ t: at![1], kind: "report", task: id, worker: "taster" }));
  const events = [
    { t: 0, kind: "request", task: "" },
    { t: 1, kind: "plan_created", task: "", plan: 0 },
    ...[...starts, ...ends].sort((one, other) => one.t - other.t),
    { t: 12, kind: "answer", task: "" },
  ];
  return readTrace({
    version: 1,
    run: { request: "Taste.", status: "done", ...run },
    plans: [{ goal: "Taste.", version: 1, tasks }],
    tasks,
    events,
    timing: { critical_path: ["supervisor", ...critical, "synthesizer"] },
  })!;
}

const CHAIN: Given[] = [
  { id: "a", at: [1, 5] },
  { id: "b", at: [1, 3] },
  { id: "c", needs: ["a"], optional: ["b"], at: [5, 7] },
];

describe("a trace from anywhere", () => {
  test.each([null, 3, "x", [], {}, { version: 2, run: { request: "x" } }, { version: 1, run: {} }])("%j is no trace", (value) => {
    expect(readTrace(value)).toBeNull();
  });

  test("what is malformed is left out", () => {
    const trace = readTrace({
      version: 1,
      run: { request: "x", models: { strong: {} } },
      tasks: [1, { id: 3 }, { id: "a", depends_on: "b", report: "none" }],
      events: [null, { t: "1", kind: "x" }, { t: 1, kind: "report", task: 5 }],
      plans: "none",
      usage: { cost_usd: "much", model_calls: 2, estimate: { input_tokens: null } },
    })!;
    expect(trace.run.models).toEqual({});
    expect([trace.usage.cost_usd, trace.usage.model_calls, trace.usage.estimate?.input_tokens]).toEqual([null, 2, 0]);
    expect(trace.tasks.map((task) => [task.id, task.depends_on, task.report])).toEqual([["a", [], null]]);
    expect(trace.events.map((event) => [event.kind, event.task])).toEqual([["report", ""]]);
    expect(buildTimeline(trace, viewTasks(trace)).rows.map((row) => row.title)).toContain("a");
  });

  test("a plan and a report that are held once are in their events again", () => {
    const trace = makeTrace(CHAIN);
    expect(trace.events.find((event) => event.kind === "plan_created")!["plan"]).toBe(trace.plans[0]);
    expect(trace.events.find((event) => event.kind === "report")!["report"]).toBe(trace.tasks[1]!.report);
  });

  test("a state named like a property of every object is no state", () => {
    expect(viewTasks(makeTrace([{ id: "a", status: "constructor" }], { status: "running" }))[0]!.state).toBe("waiting");
  });
});

describe("tasks", () => {
  test("a task with an optional result missing is done in part", () => {
    const [, second] = viewTasks(makeTrace([{ id: "a", at: [1, 2], status: "failed" }, { id: "b", optional: ["a"], at: [2, 3] }]));
    expect([second!.state, second!.isDegraded, second!.depth]).toEqual(["done", true, 1]);
  });

  test("a task at work in a run that was stopped is cut off", () => {
    const trace = makeTrace([{ id: "a", status: "working" }], { status: "stopped" });
    expect(viewTasks(trace)[0]!.state).toBe("cut off");
    expect(describeRun(trace).note).toContain("can be resumed");
  });

  test("a circle of needs loses no task", () => {
    const tasks = viewTasks(makeTrace([{ id: "a", needs: ["b"] }, { id: "b", needs: ["a"] }, { id: "c" }]));
    expect(sortByNeeds(tasks).map((task) => task.id)).toEqual(["c", "a", "b"]);
    expect(layoutPlan(tasks, { direction: "LR", isOpen: () => true }).cards).toHaveLength(3);
  });

  test("those of a team are named by their path", () => {
    const team = { name: "buyers", tasks: [makeTask({ id: "x" }), makeTask({ id: "y", needs: ["x"] })] };
    const tasks = flattenTasks(viewTasks(makeTrace([{ id: "a", team }])));
    expect(tasks.map((task) => [task.path, task.level, task.needs.map((need) => need.path)])).toEqual([
      ["a", 0, []],
      ["a/x", 1, []],
      ["a/y", 1, ["a/x"]],
    ]);
  });
});

describe("what is said of a run", () => {
  test("each reason for tasks without a result is named once, failures first", () => {
    const given = ["a", "b", "c"].map((id) => ({ id, status: "skipped" }));
    const tasks = viewTasks(makeTrace([...given, { id: "d", at: [1, 2], status: "failed" }]));
    expect(listProblems(tasks).map(({ state, reason, tasks: those }) => [state, reason, those.length])).toEqual([
      ["failed", "Good.", 1],
      ["skipped", "", 3],
    ]);
  });

  test("a team's problem is that of its own task", () => {
    const team = { name: "buyers", tasks: [makeTask({ id: "x", at: [1, 2], status: "failed" })] };
    const tasks = viewTasks(makeTrace([{ id: "a", at: [1, 2], status: "escalated", team }]));
    expect(listProblems(tasks).map((problem) => problem.tasks.map(({ path }) => path))).toEqual([["a/x"]]);
  });

  test("a run that only quotes passages says that no model has read them, in a colour of its own", () => {
    const { label, color, note } = describeRun(makeTrace([], { status: "passages" }));
    expect([label, color, note]).toEqual(["❝ passages found", "passages", "Passages found; no language model has read them."]);
  });

  test("a task that only quotes passages is named so", () => {
    const trace = makeTrace([{ id: "a" }]);
    trace.tasks[0]!.report = { ...trace.tasks[0]!.report!, is_unread: true };
    expect(describeState(viewTasks(trace)[0]!)).toBe("passages, taken over"); // no attempt at it began here
    const begun = { ...trace, events: [...trace.events, { t: 1, kind: "task_started", task: "a", worker: "w" }] };
    expect(describeState(viewTasks(begun)[0]!)).toBe("passages");
  });

  test("a run that waits for an answer shows what it asks", () => {
    const asked = [{ kind: "plan" }, { task: "a", question: "With tax?" }, { kind: "tool_call", task: "a", tool: "send", call_args: { to: "x" } }, "what?"];
    expect(describeRun(makeTrace([], { status: "needs_input", questions: asked })).questions).toEqual([
      "Run this plan?",
      "a asks: With tax?",
      'a wants to call send {"to":"x"}: may it?',
      'a worker asks: "what?"',
    ]);
  });

  test("times count from the request, also of a later one on the thread", () => {
    const trace = makeTrace([{ id: "a", status: "working" }], { status: "stopped" });
    trace.events.forEach((event) => (event.t += 100));
    expect(describeRun(trace).note).toContain("was stopped");
    expect(listPlanVersions(trace)[0]!.t).toBe(1);
  });
});

describe("the critical path", () => {
  test("its steps are planning, the tasks, and the answer, each with its own time", () => {
    const tasks = viewTasks(makeTrace(CHAIN, {}, ["a", "c"]));
    const trace = makeTrace(CHAIN, {}, ["a", "c"]);
    Object.assign(trace.timing, { wall_s: 12, planning_s: 1, critical_path_s: 8 });
    expect(measureLongestChain(sortByNeeds(tasks))).toBe(6);
    expect(listPathSteps(trace, tasks)).toEqual([
      { path: "", title: "planning", ownS: 1 },
      { path: "a", title: "a", ownS: 4 },
      { path: "c", title: "c", ownS: 2 },
      { path: "", title: "the answer", ownS: 1 },
    ]);
  });

  test("a task that did not run ends a chain", () => {
    const tasks = viewTasks(makeTrace([{ id: "a", at: [1, 9] }, { id: "b", needs: ["a"], status: "skipped" }, { id: "c", optional: ["b"], at: [2, 5] }]));
    expect(measureLongestChain(sortByNeeds(tasks))).toBe(8);
  });
});

describe("the timeline", () => {
  test("a row waits from the plan to its start, then works", () => {
    const trace = makeTrace(CHAIN);
    const { rows } = buildTimeline(trace, viewTasks(trace));
    expect(rows.map((row) => row.title)).toEqual(["supervisor", "a", "b", "c", "synthesizer"]);
    expect(rows[3]!.segments.map(({ kind, startS, endS }) => [kind, startS, endS])).toEqual([
      ["waiting", 1, 5],
      ["attempt", 5, 7],
    ]);
  });

  test("an attempt before the last has no result", () => {
    const trace = makeTrace([{ id: "a", at: [1, 9] }]);
    trace.events.splice(3, 0, { t: 4, kind: "task_started", task: "a", worker: "taster", rung: "refine" });
    const attempts = buildTimeline(trace, viewTasks(trace)).rows[1]!.segments.filter(({ kind }) => kind === "attempt");
    expect(attempts.map(({ title, endS, isFailed }) => [title, endS, isFailed])).toEqual([
      ["attempt 1", 4, true],
      ["attempt 2, new words", 9, false],
    ]);
  });

  test("each mark is named once, and a failed call by itself", () => {
    const trace = makeTrace([{ id: "a", at: [1, 9] }]);
    const call = { kind: "tool_call", task: "a", worker: "taster", seconds: 1 };
    trace.events.splice(3, 0, { ...call, t: 4, error: "refused" }, { ...call, t: 5, kind: "model_call", error: "down" }, { ...call, t: 6, kind: "model_call" });
    expect(listMarks(buildTimeline(trace, viewTasks(trace))).map(({ name, kind, isFailed }) => [name, kind, isFailed])).toEqual([
      ["waiting", "waiting", false],
      ["working", "attempt", false],
      ["planning, writing the answer", "planning", false],
      ["model call", "model", false],
      ["failed call", "model", true],
    ]);
  });

  test("the calls of the built-in model are none", () => {
    const trace = makeTrace([{ id: "a", at: [1, 9] }]);
    const call = { kind: "model_call", task: "a", worker: "taster", seconds: 1 };
    trace.events.splice(3, 0, { ...call, t: 4, model: "embedded" }, { ...call, t: 5, model: "some-model" });
    const row = buildTimeline(trace, viewTasks(trace)).rows[1]!;
    expect(row.segments.filter(({ kind }) => kind === "model").map(({ endS }) => endS)).toEqual([5]);
    expect(row.summary).toContain("1 model call");
  });

  test("the wait for a human is no attempt", () => {
    const trace = makeTrace([{ id: "a", at: [1, 9] }]);
    const event = { task: "a", worker: "taster" };
    trace.events.splice(3, 0, { t: 2, kind: "escalated", reason: "ambiguous_input", ...event }, { t: 8, kind: "task_started", rung: "human", ...event });
    const { segments, note } = buildTimeline(trace, viewTasks(trace)).rows[1]!;
    expect(segments.slice(1).map(({ kind, title, startS, endS }) => [kind, title, startS, endS])).toEqual([
      ["attempt", "attempt 1", 1, 2],
      ["waiting", "waiting for a human", 2, 8],
      ["attempt", "attempt 2, a human was asked", 8, 9],
    ]);
    expect(note).toBe("8.0 s");
  });

  test("a task that was never begun in a run that has ended waits no more", () => {
    const trace = makeTrace([{ id: "a", status: "waiting" }]);
    const row = buildTimeline(trace, viewTasks(trace)).rows[1]!;
    expect([row.task?.state, row.note, row.segments]).toEqual(["not run", "not run", []]);
    const open = makeTrace([{ id: "a", status: "waiting" }], { status: "stopped" });
    expect(viewTasks(open)[0]!.state).toBe("waiting");
  });

  test("an axis has at most eight marks", () => {
    for (const length of [0.003, 0.9, 7, 61, 4000, 90_000]) expect(listTicks(length).length).toBeLessThanOrEqual(9);
    expect(listTicks(2)).toEqual([0, 0.5, 1, 1.5, 2]);
  });
});

describe("the drawing", () => {
  test("a drawing too large to read begins at its first box, as wide as it can be", () => {
    const box = (x: number, y: number) => ({ x, y, width: 200, height: 50 });
    const boxes = [box(264, 0), box(0, 700), box(0, 900)];
    expect(findFirst(boxes, "LR")).toBe(boxes[1]);
    expect(findFirst(boxes, "TB")).toBe(boxes[0]);
    const view = startView({ width: 1200, height: 2000 }, { width: 1224, height: 500 }, boxes[1]);
    expect(view).toEqual({ scale: 1, x: 12, y: 500 - 12 - 750 });
    expect(isInside(boxes[1]!, view, { width: 1224, height: 500 })).toBe(true);
    expect(isInside(boxes[0]!, view, { width: 1224, height: 500 })).toBe(false);
  });

  const makeMany = (count: number) => viewTasks(makeTrace(Array.from({ length: count }, (_, index) => ({ id: `t${index}` }))));

  test("tasks alike are one block", () => {
    expect(makeBlocks(makeMany(40))!.map((block) => block.tasks.length)).toEqual([40]);
    expect(makeBlocks(makeMany(3))!.map((block) => block.tasks.length)).toEqual([1, 1, 1]);
  });

  test("an edge between blocks is required where one of its tasks requires it", () => {
    const tasks = viewTasks(makeTrace([{ id: "a" }, ...Array.from({ length: 8 }, (_, n) => ({ id: `b${n}`, needs: ["a"] }))]));
    const edges = joinBlocks(makeBlocks(tasks)!);
    expect(edges.map(({ from, to, required }) => [from, to, required])).toEqual([["a", "group of b0", true]]);
  });

  test("a large plan is a table of workers and steps, closed", () => {
    const given = Array.from({ length: 1000 }, (_, n) => ({ id: `t${n}`, needs: n >= 100 ? [`t${n - 100}`] : [] }));
    const drawing = layoutPlan(viewTasks(makeTrace(given)), { direction: "LR", isOpen: () => false });
    expect([drawing.isTable, drawing.cards.length, drawing.frames.length]).toEqual([true, 0, 10]);
  });

  test("a team is drawn inside its task, where it is open", () => {
    const team = { name: "buyers", tasks: [makeTask({ id: "x" })] };
    const tasks = viewTasks(makeTrace([{ id: "a", team }]));
    const opened = layoutPlan(tasks, { direction: "LR", isOpen: (key) => key === teamKey(tasks[0]!) });
    expect(opened.cards.map((card) => card.task.path)).toEqual(["a", "a/x"]);
    expect(layoutPlan(tasks, { direction: "LR", isOpen: () => false }).cards.map((card) => card.task.path)).toEqual(["a"]);
  });

  test("a drawing is of use until the plan changes, and shows the present states", () => {
    const before = viewTasks(makeTrace([{ id: "a", status: "working" }]));
    const after = viewTasks(makeTrace([{ id: "a", at: [1, 2] }]));
    expect(describeShape(after)).toBe(describeShape(before));
    const drawing = refreshTasks(layoutPlan(before, { direction: "LR", isOpen: () => true }), new Map([["a", after[0]!]]));
    expect(drawing.cards[0]!.task.state).toBe("done");
    expect(describeShape(viewTasks(makeTrace([{ id: "b" }])))).not.toBe(describeShape(after));
  });

  test("states are counted in a fixed order", () => {
    const tasks = viewTasks(makeTrace([{ id: "a", status: "failed" }, { id: "b" }]));
    expect([...countStates(tasks)]).toEqual([
      ["done", 1],
      ["failed", 1],
    ]);
  });

  test("a point stays where it is while the view is enlarged", () => {
    const zoomed = zoomView({ scale: 1, x: 10, y: 10 }, 2, { x: 110, y: 60 });
    expect(zoomed).toEqual({ scale: 2, x: -90, y: -40 });
  });

  test("a box outside the window is moved into it", () => {
    const box = { x: 500, y: 0, width: 100, height: 50 };
    expect(showBox({ scale: 1, x: 0, y: 20 }, box, { width: 300, height: 200 }).x).toBe(-312);
    expect(fitView({ width: 600, height: 100 }, { width: 324, height: 400 }).scale).toBe(0.5);
  });

  test("the nearest box in a direction is found, none at the edge", () => {
    const [left, right, below] = [0, 1, 2].map((n) => ({ x: n === 1 ? 200 : 0, y: n === 2 ? 100 : 0, width: 50, height: 50 }));
    expect(findNeighbour([left!, right!, below!], left!, "right")).toBe(right);
    expect(findNeighbour([left!, right!, below!], left!, "down")).toBe(below);
    expect(findNeighbour([left!, right!, below!], left!, "up")).toBeUndefined();
  });
});

test("seconds and dollars are shown as short as they can be read", () => {
  expect([0.0004, 0.03, 0.42, 3.14, 42, 185, 3700].map(formatSeconds)).toEqual(["0 ms", "30 ms", "0.42 s", "3.1 s", "42 s", "3 min 5 s", "1 h 1 min"]);
  expect([null, 0, 0.0012, 1.5].map(formatUsd)).toEqual(["unknown", "$0", "$0.0012", "$1.50"]);
});
