import { expect, test } from "vitest";
import { comparePlans, describeEdit, listPlanVersions } from "../src/model/plan-versions";
import type { Plan } from "../src/model/trace";
import { makeEvent, makeTask, makeTrace } from "./samples";

const plan = (version: number, ...tasks: object[]) => ({ goal: "g", version, tasks }) as Plan;

test("a difference names what is added, removed, changed and kept", () => {
  const difference = comparePlans(
    plan(1, makeTask("a"), makeTask("b", ["a"]), makeTask("c", ["a"])),
    plan(2, makeTask("a"), makeTask("b", ["a?"], { worker: "writer" }), makeTask("d")),
  );

  expect(difference.added.map(({ id }) => id)).toEqual(["d"]);
  expect(difference.removed.map(({ id }) => id)).toEqual(["c"]);
  expect(difference.kept).toEqual(["a"]);
  expect(difference.changed).toEqual([
    {
      id: "b",
      parts: [
        { name: "worker", before: "reader", after: "writer" },
        { name: "needs", before: "a", after: "a (optional)" },
      ],
    },
  ]);
});

test("a version has its reason, and what happened before it", () => {
  const versions = listPlanVersions(
    makeTrace({
      events: [
        makeEvent(0, "request"),
        makeEvent(1, "plan_rejected", { problems: ["cycle: a -> a"] }),
        makeEvent(2, "plan_created", { plan: plan(1, makeTask("a")) }),
        makeEvent(3, "plan_created", { plan: plan(1, makeTask("x")), within: "a", task: "a" }),
        makeEvent(4, "plan_revised", { plan: plan(2, makeTask("b")), reason: "a failed" }),
      ],
    }),
  );

  expect(versions.map(({ origin, reason }) => [origin, reason])).toEqual([
    ["planned", ""],
    ["revised", "a failed"],
  ]);
  expect(versions[0]!.notes).toEqual([{ t: 1, text: "refused: cycle: a -> a" }]);
  expect(versions.map(({ later }) => later.length)).toEqual([0, 0]);
  expect(versions[1]!.difference!.added.map(({ id }) => id)).toEqual(["b"]);
});

test("a plan that the user edited says so, one that was accepted does not", () => {
  const describe = (approved: Record<string, unknown>) =>
    describeEdit(makeTrace({ events: [makeEvent(0, "request"), makeEvent(1, "plan_created", { plan: plan(4, makeTask("a"), makeTask("b")) }), makeEvent(2, "plan_approved", approved)] }));

  expect(describe({ edited: true, plan: plan(5, makeTask("a"), makeTask("b", [], { description: "Sum." })) })).toBe("plan edited before it ran: the task b");
  expect(describe({ edited: true, plan: plan(5, makeTask("a"), makeTask("c")) })).toBe("plan edited before it ran: c and b");
  expect(describe({ edited: false, version: 4 })).toBe("");

  const asks = (description: string) => describe({ edited: true, is_fork: true, plan: plan(5, makeTask("a"), makeTask("b", [], { description })) });
  expect(asks('Do this part of the request: "Sum of sold by hall": a card.')).toBe("begun again from b, whose task was changed: “Sum of sold by hall”");
  expect(describe({ edited: true, is_fork: true, plan: plan(5, makeTask("a"), makeTask("b", [], { worker: "w" })) })).toBe("begun again with a changed plan: the task b");
});
