import { describe, expect, test } from "vitest";
import { reader } from "../src/model/asides";
import { listTurns } from "../src/live/earlier-turns";
import { findFileProblem, findRequestProblem, listChosen, listEmpty } from "../src/client/files";
import { toUuid } from "../src/client/kept-trace";
import { addAdvice, endSilence, Problem, readProblem } from "../src/client/problem";
import { loadThread, type Server } from "../src/client/server";
import { isPage, linkTo, readRoute } from "../src/live/router";
import { dropKept, findOffset, shiftEvents } from "../src/model/live-events";
import { chooseStatus } from "../src/model/run-status";
import { compareRuns, compareTasks, formatChange } from "../src/model/compare";
import type { Trace } from "../src/model/trace";

const event = (t: number, kind = "report", more = {}) => ({ t, kind, task: "", worker: "", ...more });

describe("streamed events beside the kept ones", () => {
  test("those that are kept already are dropped", () => {
    expect(dropKept([event(1), event(2)], [event(1), event(2), event(3)], 0)).toEqual([event(3)]);
  });

  test("the clock of a first request is that of the kept trace", () => {
    expect(findOffset([event(0, "request"), event(4)], [event(5)])).toBe(0);
  });

  test("the clock of a follow-up begins after the last kept event", () => {
    const kept = [event(0, "request"), event(4, "answer")];
    const live = [event(0, "request"), event(1)];
    const offset = findOffset(kept, live);
    expect(offset).toBeCloseTo(4);
    expect(dropKept(kept, live, offset)).toHaveLength(2);
  });

  test("an event that both have tells the difference exactly", () => {
    const call = { seconds: 0.31, model: "m" };
    const kept = [event(0, "request"), event(4), event(4.5, "request"), event(5, "model_call", call)];
    const live = [event(1, "model_call", call), event(2)];
    expect(findOffset(kept, live)).toBe(4);
    expect(shiftEvents(live, 4).map(({ t }) => t)).toEqual([5, 6]);
  });

  test("a request that is kept already and has no answer yet is no follow-up", () => {
    const live = [event(0.01, "request", { request: "x" }), event(0.3, "plan_created")];
    expect(findOffset([event(0.01, "request", { request: "x" })], live)).toBe(0);
    const ended = [event(0.01, "request", { request: "x" }), event(2, "answer")];
    expect(findOffset(ended, live)).toBeCloseTo(1.99);
  });

  test("a report's own times are on the clock of the kept events, too", () => {
    const [shifted] = shiftEvents([event(2, "report", { report: { started_s: 1, ended_s: 2, output: "x" } })], 4);
    expect(shifted!["report"]).toEqual({ started_s: 5, ended_s: 6, output: "x" });
  });
});

describe("the status of a run", () => {
  test.each([
    [{ status: "done" }, "busy", "running"],
    [{ status: "done", questions: [{}] }, "interrupted", "needs_input"],
    [{ status: "partial" }, "idle", "partial"],
    [{ status: "passages" }, "idle", "passages"],
    [{ status: "done", is_in_progress: true }, "idle", "stopped"],
    [{ status: "" }, "error", "failed"],
    [{ status: "" }, "idle", "stopped"],
  ])("%o of a thread that is %s", (view, thread, status) => expect(chooseStatus(view, thread)).toBe(status));
});

describe("what went wrong", () => {
  test.each([
    [{ status: 401, text: "" }, "unauthorized", "the server asks for a token"],
    [{ status: 403, text: '{"detail": "no crons for you"}' }, "forbidden", "not allowed: no crons for you"],
    [{ status: 403, text: "" }, "forbidden", "not allowed: your token has no right to do that"],
    [{ status: 404 }, "unknown", "the server has no such run, or does not show it to you"],
    [{ status: 409 }, "refused", "the run is at work already: another tab or user was first"],
    [{ status: 429, text: '{"detail": "10 runs"}' }, "refused", "10 runs"],
    [{ status: 422, text: '{"detail": [{"msg": "too long"}]}' }, "refused", "too long"],
    [{ status: 500, message: "HTTP 500: oops" }, "unreachable", "HTTP 500: oops"],
    [{ status: 503, text: "" }, "unreachable", "the server has failed with status 503"],
    [new TypeError("Failed to fetch"), "unreachable", "the server does not answer"],
    [new SyntaxError("Unexpected token"), "unreadable", "the server's answer cannot be read"],
  ])("%o", (error, kind, message) => {
    const problem = readProblem(error);
    expect([problem.kind, problem.message]).toEqual([kind, message]);
  });

  test("is cut, and on one line", () => {
    const { message } = readProblem({ status: 400, text: JSON.stringify({ detail: `a\n\u202e${"x".repeat(9999)}` }) });
    expect(message).toMatch(/^a ‹202E›x+…$/);
    expect(message.length).toBeLessThan(420);
  });
});

test.each([
  ["", true],
  ["#/runs/abc", true],
  ["#/start/coffees", true],
  ["#/compare/a/b", true],
  ["#/compare/a", false],
  ["#/nosuch", false],
])("an address leads to a page or is said to lead to none: %s", (address, isKnown) => {
  expect(isPage(readRoute(address))).toBe(isKnown);
});

test("a route survives any name of a thread or a team", () => {
  for (const name of ["a/b", "%", "<b>", "ü", "#"]) expect(readRoute(linkTo("runs", name))).toEqual(["runs", name]);
  expect(readRoute("#summary")).toEqual([]);
  expect(readRoute("#/runs/%E0%A4%A")).toEqual(["runs", "%E0%A4%A"]);
});

test("the number of a line is an id", () => {
  expect(toUuid(0)).toBe("00000000-0000-0000-0000-000000000000");
  expect(toUuid(4096)).toBe("00000000-0000-0000-0000-000000001000");
});

const file = (size: number, name = "a.csv") => ({ name, size });

test("a server that did not answer is said to be back; what it has refused or failed at stays", () => {
  const silent = addAdvice(readProblem(new TypeError("Failed to fetch")));
  expect(silent!.message).toBe("the server does not answer. What you entered is kept: try again.");
  expect(endSilence(silent)).toMatchObject({ kind: "passed", message: "The server answers again. What you entered is kept: try again." });
  const failed = addAdvice(readProblem({ status: 500 }));
  for (const problem of [failed, new Problem("refused", "no"), endSilence(silent), null]) expect(endSilence(problem)).toBe(problem);
});

test("a request that is too long is named with its size, which counts as the server counts", () => {
  expect(findRequestProblem(` ${"a".repeat(100_000)}\n`)).toBe("");
  const said = "at most 100 kB can be sent: shorten it, or attach its long part as a file";
  expect(findRequestProblem("ü".repeat(60_000))).toBe(`the request has 120 kB; ${said}`);
});

test("too many, too large or empty files are named before anything is sent", () => {
  expect(findFileProblem([file(1000)])).toBe("");
  expect(findFileProblem([file(1), file(0, "empty.md")])).toBe("empty.md is empty: take it out with its ✕");
  expect(findFileProblem([file(45_000_001, "a.pdf")])).toBe("the files have 46 MB; at most 45 MB can be attached");
  expect(findFileProblem(Array.from({ length: 201 }, () => file(1)))).toBe("at most 200 files can be attached");
});

test("a table that would be read in part is refused with its limit; a setting is named to its owner alone", () => {
  expect(findFileProblem([file(2_000_000)])).toBe("");
  expect(findFileProblem([file(11_000_000)])).toContain("a.csv has 11 MB; of a table at most 2 MB can be read: leave it out, divide it");
  expect(findFileProblem([file(11_000_000)])).toContain("SUPERVISE_SQL_URL");
  reader.ownsServer = false;
  expect(findFileProblem([file(11_000_000)])).not.toContain("SUPERVISE");
  reader.ownsServer = true;
});

describe("two runs", () => {
  const task = (id: string, worker: string, needs: string[] = []) => ({
    id,
    worker,
    description: "",
    depends_on: needs.map((need) => ({ task: need, required: true })),
    status: "completed" as const,
    report: null,
  });
  const run = (tasks: unknown[], wall: number) =>
    ({ tasks, plans: [], events: [], run: {}, usage: { model_calls: 2 }, timing: { wall_s: wall } }) as unknown as Trace;

  test("their tasks are matched by id", () => {
    const pairs = compareTasks(run([task("a", "x"), task("b", "x", ["a"])], 1), run([task("b", "y"), task("c", "x")], 1));
    expect(pairs.map(({ id, difference }) => [id, difference])).toEqual([
      ["a", "only in A"],
      ["b", "other worker, dependencies"],
      ["c", "only in B"],
    ]);
  });

  test("a task is told with its state, as everywhere else", () => {
    const escalated = { ...task("a", "x"), status: "escalated" };
    const [pair] = compareTasks(run([task("a", "x")], 1), run([escalated], 1));
    expect(pair).toEqual({ id: "a", sides: ["x: done", "x: could not do it"], difference: "other status" });
  });

  test("their figures have the change in percent, where there is one", () => {
    const [time, tasks] = compareRuns(run([], 4), run([], 3));
    expect(time).toEqual({ label: "Time", values: ["4.0 s", "3.0 s"], change: "−25 %" });
    expect(tasks!.label).toBe("Tasks"); // neither has a time without parallel work
    expect(formatChange(2, 2.001)).toBe("same");
    expect(formatChange(7691, 7658)).toBe("−0.4 %");
    expect(formatChange(0, 2)).toBe("");
    const planned = (count: number) =>
      ({ ...run([], 3), events: Array.from({ length: count }, (_, t) => event(t, t ? "plan_revised" : "plan_created", { plan: { version: t + 1, tasks: [] } })) }) as Trace;
    const versions = compareRuns(planned(1), planned(2)).find(({ label }) => label === "Plan versions");
    expect(versions).toEqual({ label: "Plan versions", values: ["1", "2"], change: "" });
  });

  test("runs without a language model have no figures of one", () => {
    const runs = [run([], 4), run([], 3)] as const;
    runs.forEach((trace) => (trace.usage = { ...trace.usage, model_calls: 2, input_tokens: 100, output_tokens: 5, cost_usd: 0 }));
    expect(compareRuns(...runs).some(({ label }) => label === "Tokens in")).toBe(true);
    const [one, other] = runs.map((trace) => ({ ...trace, run: { ...trace.run, models: { fast: "embedded", standard: "embedded" } } }));
    expect(compareRuns(one!, other!).map(({ label }) => label)).toEqual(["Time", "Tasks", "Done", "Plan versions"]);
  });

  test("a run that waited for nothing outside has no time without parallel work beside one that did", () => {
    const [without, having] = [run([], 4), run([], 2)];
    Object.assign(without.timing, { sequential_s: 4, speedup: null });
    Object.assign(having.timing, { sequential_s: 6, speedup: 3 });
    const figures = new Map(compareRuns(without, having).map(({ label, values, change }) => [label, [...values, change]]));
    expect(figures.get("Without parallel work")).toEqual(["–", "6.0 s", ""]);
  });
});

test("the requests of a thread are listed with their answers", () => {
  const events = [
    event(0, "request", { request: "Which?" }),
    event(1, "request", { request: "inner", within: "a" }),
    event(2, "answer", { answer: { text: "inner" }, within: "a" }),
    event(3, "answer", { answer: { text: "Huila" } }),
    event(4, "request", { request: "Why?" }),
  ];
  expect(listTurns({ events } as unknown as Trace)).toEqual([
    { request: "Which?", answer: "Huila" },
    { request: "Why?", answer: "" },
  ]);
});

test("files are added to those chosen: one twice is there once, another of its name gets one of its own, hidden ones of a folder are left out", () => {
  const make = (name: string, path = "", words = name) =>
    Object.defineProperty(new File([words], name, { lastModified: 1 }), "webkitRelativePath", { value: path });
  const first = [make("a.csv"), make("b.csv")];
  const added = [make("a.csv"), make("a.csv", "", "other words"), make("a.csv", "sales/2024/a.csv"), make("config", "sales/.git/config"), make("b.csv", "sales/b.csv")];
  expect(listChosen(first, added).map(({ name }) => name)).toEqual(["a.csv", "b.csv", "a-2.csv", "sales-2024-a.csv", "sales-b.csv"]);
});

test("an empty file of a folder is not taken, and named; one that was chosen alone is taken, and named before anything is sent", () => {
  const make = (name: string, path: string) => Object.defineProperty(new File([], name), "webkitRelativePath", { value: path });
  const added = [make("none.txt", "sales/2024/none.txt"), make("config", "sales/.git/config"), make("alone.txt", "")];
  expect(listChosen([], added).map(({ name }) => name)).toEqual(["alone.txt"]);
  expect(listEmpty(added)).toEqual(["none.txt"]);
});

test.each([
  [{ status: 422, text: '{"detail": "Invalid thread ID: must be a UUID"}' }, "unknown"],
  [{ status: 404 }, "unknown"],
  [{ status: 429, text: '{"detail": "too many calls"}' }, "refused"],
])("a thread that the server answers with %o", async (error, kind) => {
  const get = () => Promise.reject(error);
  await expect(loadThread({ client: { threads: { get } } } as unknown as Server, "nosuch")).rejects.toMatchObject({ kind });
});
