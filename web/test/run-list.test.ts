import { expect, test } from "vitest";
import { PAGE, RunLister } from "../src/live/run-list";
import type { Server } from "../src/client/server";

interface StoredThread {
  thread_id: string;
  status: string;
  created_at: string;
  updated_at: string;
  metadata?: Record<string, unknown>;
}

const makeThread = (number: number): StoredThread => {
  const at = new Date(Date.UTC(2026, 0, 1) + number * 1000).toISOString();
  return { thread_id: `t${number}`, status: "idle", created_at: at, updated_at: at };
};

/** A server that holds threads; it notes the summaries that were asked for. */
function makeServer(threads: StoredThread[]) {
  const asked: string[] = [];
  const search = async ({ limit, offset }: { limit: number; offset: number }) =>
    threads.toSorted((one, other) => other.updated_at.localeCompare(one.updated_at)).slice(offset, offset + limit);
  const getState = async (thread: string) => {
    asked.push(thread);
    return { values: { team: "a", run: thread === "t3" ? {} : { request: thread, status: "done" } } };
  };
  return { asked, server: { url: "", client: { threads: { search, getState } } } as unknown as Server };
}

const count = 2 * PAGE + 50;

test("older runs come page by page, without asking for known ones again", async () => {
  const { asked, server } = makeServer(Array.from({ length: count }, (_, number) => makeThread(number)));
  const lister = new RunLister(server);
  const first = await lister.list();
  expect([first.runs.length, first.hasOlder, first.runs[0]!.thread]).toEqual([PAGE, true, `t${count - 1}`]);
  const all = await lister.list(3);
  expect([all.runs.length, all.pages, all.hasOlder]).toEqual([count - 1, 3, false]); // t3 holds no run
  await lister.list(3);
  expect(asked).toHaveLength(count);
});

test("a new run is first, one that changed is asked again and keeps its place, and one that was deleted is gone", async () => {
  const threads = Array.from({ length: count }, (_, number) => makeThread(number));
  const { asked, server } = makeServer(threads);
  const lister = new RunLister(server);
  await lister.list(3);
  threads.splice(count - 5, 1);
  threads[10] = { ...threads[10]!, updated_at: makeThread(count + 1).updated_at };
  threads.push(makeThread(count));
  asked.length = 0;
  const { runs } = await lister.list(3);
  expect(asked.sort()).toEqual(["t10", `t${count}`]);
  expect(runs.map(({ thread }) => thread).slice(0, 2)).toEqual([`t${count}`, `t${count - 1}`]);
  expect(runs.at(-10)!.thread).toBe("t10"); // t3 holds no run
  expect(runs.map(({ thread }) => thread)).not.toContain(`t${count - 5}`);
  expect(runs).toHaveLength(count - 1);
});

test("a run that never began is listed by what was asked, and a follow-up below the first request", async () => {
  const views: Record<string, object> = { t1: {}, t2: { request: "And per skipper?", requests: ["Which club?", "And per skipper?"], status: "done" } };
  const threads = [{ ...makeThread(1), metadata: { supervise_asked: "How many?" } }, makeThread(2)];
  const getState = async (thread: string) => ({ values: { team: "a", run: views[thread] } });
  const server = { url: "", client: { threads: { search: async () => threads, getState } } } as unknown as Server;
  const { runs } = await new RunLister(server).list();
  expect(runs.map(({ title, request, status }) => [title, request, status])).toEqual([
    ["Which club?", "And per skipper?", "done"],
    ["", "How many?", "stopped"],
  ]);
});
