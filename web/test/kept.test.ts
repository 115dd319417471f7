import { beforeEach, expect, test, vi } from "vitest";

const stored = new Map<string, string>();

/** Return the module as a page that was just loaded has it. */
const load = async () => {
  vi.resetModules();
  return import("../src/client/kept");
};

beforeEach(() => {
  stored.clear();
  const storage = { getItem: (key: string) => stored.get(key) ?? null, setItem: (key: string, value: string) => stored.set(key, value), removeItem: (key: string) => stored.delete(key) };
  // A browser lists the keys of what is stored as the storage's own.
  vi.stubGlobal("sessionStorage", new Proxy(storage, { ownKeys: () => [...stored.keys()], getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }) }));
});

test("a plan that was edited is there again after a reload", async () => {
  (await load()).keep("plans t", { "plan  1": { goal: "edited", tasks: [] } });

  expect((await load()).readKept("plans t", {})).toEqual({ "plan  1": { goal: "edited", tasks: [] } });
});

test("the next user finds nothing of it, and other things of the tab stay", async () => {
  stored.set("supervise-token", "x");
  const page = await load();
  page.keep("start", "my request");
  page.forgetKept();

  expect(page.readKept("start", "")).toBe("");
  expect([...stored.keys()]).toEqual(["supervise-token"]);
});

test("a browser that stores nothing keeps it until a reload", async () => {
  vi.stubGlobal("sessionStorage", undefined);
  const page = await load();
  page.keep("start", "my request");

  expect(page.readKept("start", "")).toBe("my request");
});
