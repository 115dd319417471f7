import { expect, test, vi } from "vitest";
import type { ListedRun } from "../src/live/run-list";

vi.stubGlobal("innerWidth", 1280);
const { ALL_RUNS, selectRuns } = await import("../src/live/run-filter");
const { findEntries } = await import("../src/live/palette");

const NOW = new Date(2026, 4, 20, 15).getTime();
const run = (thread: string, more: Partial<ListedRun>): ListedRun => ({
  thread,
  team: "market_analysis",
  request: "",
  requests: [],
  title: "",
  isQueued: false,
  status: "done",
  started: new Date(2026, 4, 20, 9).toISOString(),
  wallS: 1,
  ...more,
});
const RUNS = [
  run("a", { request: "Which coffee costs least?" }),
  run("b", { title: "Clouds", request: "Compare the providers", status: "partial", started: new Date(2026, 4, 14, 1).toISOString() }),
  run("c", { team: "code_review", request: "Look at my change", requests: ["Read it", "Is it safe?", "Look at my change"], started: new Date(2026, 4, 13, 23).toISOString() }),
];

test.each([
  [{}, "abc"],
  [{ text: "COSTS coffee" }, "a"],
  [{ text: "clouds" }, "b"],
  [{ text: "code review" }, "c"],
  [{ text: "safe" }, "c"],
  [{ team: "market_analysis" }, "ab"],
  [{ status: "partial" }, "b"],
  [{ days: "1" }, "a"],
  [{ days: "7" }, "ab"],
  [{ days: "30", text: "nothing" }, ""],
])("runs are selected by words of any request of their thread, team, status and day: %j", (filter, threads) => {
  expect(selectRuns(RUNS, { ...ALL_RUNS, ...filter }, NOW).map(({ thread }) => thread).join("")).toBe(threads);
});

test("the palette finds by all words of a name or a kind, and shows no more than fit", () => {
  const entries = Array.from({ length: 30 }, (_, number) => ({ kind: number % 2 ? "done" : "Team", words: `Coffee ${number}`, address: `#/${number}` }));
  expect(findEntries(entries, "team coffee 2").map(({ words }) => words)).toEqual(["Coffee 2", "Coffee 12", "Coffee 20", "Coffee 22", "Coffee 24", "Coffee 26", "Coffee 28"]);
  expect(findEntries(entries, "")).toHaveLength(12);
});
