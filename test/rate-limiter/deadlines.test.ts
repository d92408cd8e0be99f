import fc from "fast-check";
import { expect, it } from "vitest";
import { type Deadline, Deadlines } from "../../src/rate-limiter/deadlines.ts";
import { runs } from "../properties/runs.ts";

/** Somebody comes with a deadline, or one of those who are there leaves. */
const step = fc.oneof(
  fc.record({ kind: fc.constant("comes" as const), at: fc.integer({ min: 0, max: 30 }) }),
  fc.record({ kind: fc.constant("leaves" as const), which: fc.nat(100) }),
);

it("the soonest deadline stands first, whoever comes and whoever leaves", () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 60 }), (steps) => {
      const deadlines = new Deadlines();
      const there: Deadline[] = [];
      for (const one of steps) {
        if (one.kind === "comes") {
          const deadline = { deadlineAt: one.at, slot: -1 };
          there.push(deadline);
          deadlines.add(deadline);
        } else {
          const [gone] = there.splice(one.which % Math.max(1, there.length), 1);
          if (gone) deadlines.remove(gone);
        }
        const soonest =
          there.length === 0 ? undefined : Math.min(...there.map(({ deadlineAt }) => deadlineAt));
        expect(deadlines.first()?.deadlineAt).toBe(soonest);
      }
    }),
    runs(500),
  );
});

it("who has left, or never came, leaves without taking anybody along", () => {
  const deadlines = new Deadlines();
  const stays = { deadlineAt: 1, slot: -1 };
  const leaves = { deadlineAt: 2, slot: -1 };
  deadlines.add(stays);
  deadlines.add(leaves);
  deadlines.remove(leaves);
  deadlines.remove(leaves);
  deadlines.remove({ deadlineAt: 3, slot: -1 });
  expect(deadlines.first()).toBe(stays);
});

it("those that must leave at the same time all leave", () => {
  const deadlines = new Deadlines();
  const there = Array.from({ length: 20 }, () => ({ deadlineAt: 5, slot: -1 }));
  for (const deadline of there) deadlines.add(deadline);
  const left = new Set<Deadline>();
  for (let first = deadlines.first(); first; first = deadlines.first()) {
    deadlines.remove(first);
    left.add(first);
  }
  expect(left.size).toBe(20);
});
