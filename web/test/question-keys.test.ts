import { expect, test } from "vitest";
import { pressKey } from "../src/questions/waiting";

type Place = "field" | "refusal" | "button" | "outside";

/** Press a key where the focus is; return what was clicked or focused. */
function press(place: Place, key: string, more: Partial<KeyboardEvent> = {}): string[] {
  const done: string[] = [];
  const querySelector = (selector: string) => {
    const name = selector.replace(":not(:disabled)", "");
    return { click: () => done.push(`click ${name}`), focus: () => done.push(`go to ${name}`) };
  };
  const isField = place === "field" || place === "refusal";
  const target = {
    closest: () => (place === "outside" ? null : { querySelector }),
    matches: (selector: string) => (selector === "[data-refuses]" ? place === "refusal" : isField),
  };
  pressKey({ key, target, preventDefault: () => undefined, ...more } as unknown as KeyboardEvent);
  return done;
}

const ACCEPT = '[data-key="A"]';
const ctrlKey = true;

test("Ctrl+Enter sends what the field belongs to", () => {
  expect(press("field", "Enter", { ctrlKey })).toEqual([`click ${ACCEPT}`]);
  expect(press("refusal", "Enter", { ctrlKey })).toEqual(["click button[data-refuses]"]);
  expect(press("refusal", "Enter", { metaKey: true })).toEqual(["click button[data-refuses]"]);
});

test("Ctrl+Enter outside of a field sends nothing", () => {
  expect([press("button", "Enter", { ctrlKey }), press("outside", "Enter", { ctrlKey })]).toEqual([[], []]);
});

test("a letter accepts, changes or rejects in a question, and is a letter in a field", () => {
  expect(["a", "e", "r", "x"].map((key) => press("button", key))).toEqual([[`click ${ACCEPT}`], ['go to [data-key="E"]'], ['go to [data-key="R"]'], []]);
  expect(["a", "e", "r"].flatMap((key) => [...press("field", key), ...press("refusal", key)])).toEqual([]);
});

test("a key that is held down, pressed with another or outside of a question does nothing", () => {
  expect([press("button", "a", { repeat: true }), press("field", "Enter", { ctrlKey, repeat: true })]).toEqual([[], []]);
  expect([press("button", "a", { ctrlKey }), press("button", "a", { altKey: true })]).toEqual([[], []]);
  expect(press("outside", "a")).toEqual([]);
});
