import { expect, test, vi } from "vitest";
import { RunWatch, type WatchedRun } from "../src/client/run-watch";
import { readAsked } from "../src/client/live-run";
import type { Server } from "../src/client/server";

vi.stubGlobal("requestAnimationFrame", (draw: () => void) => setTimeout(draw));

/** A server with one thread that is done; `refuse` is the status of its next refusals. */
function makeServer() {
  const server = { refuse: 0, asked: 0 };
  const check = () => {
    server.asked += 1;
    if (server.refuse) throw Object.assign(new Error("refused"), { status: server.refuse, text: "" });
  };
  const get = async () => {
    check();
    return { status: "idle", updated_at: "1", metadata: { graph_id: "team", supervise_title: "Prices" } };
  };
  const getState = async () => ({ values: { run: { request: "Which?", status: "done" }, lines: [], next: null } });
  return { server, given: { url: "", client: { threads: { get, getState } } } as unknown as Server };
}

async function watch(given: Server, until: (run: WatchedRun) => boolean, onEach: (watch: RunWatch, run: WatchedRun) => void = () => undefined) {
  return new Promise<WatchedRun>((resolve) => {
    const watching = new RunWatch(given, "t", (run) => {
      onEach(watching, run);
      if (!until(run)) return;
      watching.stop();
      resolve(run);
    });
    void watching.start();
  });
}

test("a run that is done is shown with the title that it was given, and nothing more is asked until it changes", async () => {
  const { given } = makeServer();
  const run = await watch(given, ({ connection }) => connection === "settled");
  expect(run).toMatchObject({ status: "done", graph: "team", trace: { run: { request: "Which?", title: "Prices" } } });
});

test("a token that is refused is tried again at once when there is another one", async () => {
  const { server, given } = makeServer();
  server.refuse = 401;
  const began = Date.now();
  const run = await watch(
    given,
    ({ trace }) => trace !== null,
    (watching, { problem }) => {
      if (problem?.kind !== "unauthorized") return;
      server.refuse = 0;
      watching.refresh();
    },
  );
  expect(run.problem).toBeNull();
  expect(Date.now() - began).toBeLessThan(2500);
});

test("a follow-up that was sent is shown at once as one that begins, not the answer before it", async () => {
  const { given } = makeServer();
  let isSent = false;
  const run = await watch(
    given,
    ({ trace }) => isSent && trace === null,
    (watching, { trace }) => {
      if (trace && !isSent) watching.refresh("And then?");
      isSent ||= trace !== null;
    },
  );
  expect(run.status).toBe("running");
  expect(readAsked(run.given!.input)).toBe("And then?");
});

test("a thread that may not be read is not asked for again", async () => {
  const { server, given } = makeServer();
  server.refuse = 403;
  const run = await watch(given, ({ problem }) => problem !== null);
  expect([run.problem!.kind, run.connection, server.asked]).toEqual(["forbidden", "settled", 1]);
});

test.each([
  [0, "pending", true],
  [9, "pending", false],
  [0, "running", false],
])("a run is in the queue where %i places are free and it is %s: %s", async (available, status, isQueued) => {
  vi.stubGlobal("fetch", async () => new Response(JSON.stringify({ workers: { available } })));
  const asked = vi.fn(async () => ({ status }));
  const input = { messages: [{ content: [{ type: "text", text: "Which?" }, { type: "file" }] }] };
  const refuse = async () => Promise.reject(Object.assign(new Error("no graph yet"), { status: 400 }));
  const threads = { get: async () => ({ status: "busy", updated_at: "1", metadata: {} }), getState: refuse };
  const joinStream = async function* () {
    await new Promise(() => undefined);
  };
  const runs = { list: async () => [{ run_id: "r", status, created_at: "1", kwargs: { input } }], get: asked, joinStream };
  const given = { url: "", client: { threads, runs } } as unknown as Server;
  const run = await watch(given, ({ isQueued }) => isQueued || asked.mock.calls.length > 1);
  expect(run).toMatchObject({ status: "running", trace: null, isQueued, given: { input } });
});

test("the answer is shown as it is written, and a page that joins late says that it lacks the beginning", async () => {
  const request = JSON.stringify({ t: 0, kind: "request", request: "Which?" });
  const threads = {
    get: async () => ({ status: "busy", updated_at: "1", metadata: {} }),
    getState: async () => ({ values: { run: { request: "Which?" }, lines: [request], next: null } }),
  };
  const parts = [
    { type: "human", id: "q", content: "Which?" },
    { type: "AIMessageChunk", id: "a", content: " costs" },
    { type: "AIMessageChunk", id: "a", content: " least." },
  ];
  const joinStream = async function* () {
    for (const part of parts) yield { event: "messages", data: [part, {}] };
    yield { event: "messages|researcher:1", data: [{ type: "AIMessageChunk", id: "w", content: "a worker's" }, {}] };
    await new Promise(() => undefined);
  };
  const runs = { list: async () => [{ run_id: "r", status: "running", created_at: "1" }], get: async () => ({}), joinStream };
  const run = await watch({ url: "", client: { threads, runs } } as unknown as Server, ({ trace }) => Boolean(trace?.run.written));
  expect(run.trace!.run.written).toBe("… costs least.");
});

test.each([
  ["kwargs", "langgraph dev"],
  ["", "Aegra"],
])("a run that was stopped before it began says what it was given (%s)", async (field) => {
  const given = { input: { messages: [{ role: "user", content: [{ type: "text", text: "How many?" }, { type: "file", base64: "YQ==" }] }] }, context: { max_tasks: 2 } };
  const get = async () => ({ status: "idle", updated_at: "1", metadata: { graph_id: "team" } });
  const getState = async () => ({ values: { run: {}, lines: [], next: null } });
  const list = async () => [{ run_id: "r", status: "interrupted", created_at: "1", ...(field ? { [field]: given } : given) }];
  const server = { url: "", client: { threads: { get, getState }, runs: { list } } } as unknown as Server;
  const run = await watch(server, (each) => each.given !== null);
  expect([run.status, run.given]).toEqual(["stopped", given]);
  expect(readAsked(run.given!.input)).toBe("How many?");
});
