import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Deletion, UNDO_S } from "../src/live/deletion";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const wait = () => vi.advanceTimersByTimeAsync(UNDO_S * 1000);

/** A deletion whose server holds each thread until it is released. */
function makeDeletion(refused = "") {
  const asked: string[] = [];
  const waiting: (() => void)[] = [];
  const deletion = new Deletion(
    (thread) =>
      new Promise((resolve, reject) => {
        asked.push(thread);
        waiting.push(() => (thread === refused ? reject(Object.assign(new Error("no"), { status: 403, text: "" })) : resolve()));
      }),
    () => undefined,
  );
  const release = async () => {
    waiting.shift()!();
    await vi.advanceTimersByTimeAsync(0);
  };
  return { deletion, asked, release };
}

test("a run is hidden at once and deleted when the time to undo it is over", async () => {
  const { deletion, asked } = makeDeletion();
  deletion.start(["a"]);
  deletion.start(["b"]);
  expect([deletion.pending, deletion.isHidden("a"), asked]).toEqual([["a", "b"], true, []]);
  await wait();
  expect([deletion.pending, asked]).toEqual([[], ["a"]]);
});

test("what is undone is shown again and never deleted", async () => {
  const { deletion, asked } = makeDeletion();
  deletion.start(["a"]);
  deletion.undo();
  await wait();
  expect([deletion.pending, deletion.isHidden("a"), asked]).toEqual([[], false, []]);
});

test("a second deletion while the first is at work is carried out as well", async () => {
  const { deletion, asked, release } = makeDeletion();
  deletion.start(["a"]);
  await wait();
  deletion.start(["b"]);
  await release();
  expect([deletion.pending, deletion.isHidden("b")]).toEqual([["b"], true]);
  await wait();
  expect(asked).toEqual(["a", "b"]);
});

test("the list that is left carries out what is pending, once", async () => {
  const { deletion, asked, release } = makeDeletion();
  deletion.start(["a"]);
  void deletion.carryOut();
  await release();
  await wait();
  expect(asked).toEqual(["a"]);
});

test("a run that cannot be deleted is shown again with the reason, and the others are deleted", async () => {
  const { deletion, asked, release } = makeDeletion("a");
  deletion.start(["a", "b"]);
  await wait();
  await release();
  await release();
  expect([asked, deletion.isHidden("a"), deletion.isHidden("b"), deletion.problem?.kind]).toEqual([["a", "b"], false, true, "forbidden"]);
});
