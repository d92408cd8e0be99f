import fc from "fast-check";
import { expect, it } from "vitest";
import { type Deadline, Deadlines } from "../../src/rate-limiter/deadlines.ts";
import { runs } from "../properties/runs.ts";

/** Somebody comes with a deadline, or one of those who are there leaves. */
const step = fc.oneof(
  fc.record({ kind: fc.constant("comes" as const), at: fc.integer({ min: 0, max: 30 }) }),
  fc.record({ kind: fc.constant("leaves" as const), which: fc.nat(100) }),
);

it("the soonest deadline is known, and those before a time in their order, whoever comes and whoever leaves", () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 60 }), fc.nat(31), (steps, time) => {
      const deadlines = new Deadlines();
      const there: Deadline[] = [];
      for (const one of steps) {
        if (one.kind === "comes") {
          const deadline = { deadlineAt: one.at };
          there.push(deadline);
          deadlines.add(deadline);
        } else {
          const [gone] = there.splice(one.which % Math.max(1, there.length), 1);
          if (gone) deadlines.remove(gone);
        }
        const times = there.map(({ deadlineAt }) => deadlineAt).toSorted((a, b) => a - b);
        expect(deadlines.soonestAt).toBe(times[0] ?? Infinity);
        expect(deadlines.before(time).map(({ deadlineAt }) => deadlineAt)).toEqual(
          times.filter((at) => at < time),
        );
      }
    }),
    runs(500),
  );
});

it("who has left, or never came, leaves without taking anybody along", () => {
  const deadlines = new Deadlines();
  const stays = { deadlineAt: 1 };
  const leaves = { deadlineAt: 2 };
  deadlines.add(stays);
  deadlines.add(leaves);
  deadlines.remove(leaves);
  deadlines.remove(leaves);
  deadlines.remove({ deadlineAt: 1 });
  expect(deadlines.before(Infinity)).toEqual([stays]);
});

it("those that must leave at the same time are all there, in the order in which they came", () => {
  const deadlines = new Deadlines();
  const there = Array.from({ length: 20 }, () => ({ deadlineAt: 5 }));
  for (const deadline of there) deadlines.add(deadline);
  expect(deadlines.before(6)).toEqual(there);
  expect(deadlines.before(5)).toEqual([]);
});

it("ten thousand of them are served, a hundred at a time, in less than a second", () => {
  const deadlines = new Deadlines();
  const there = Array.from({ length: 10_000 }, (_, deadlineAt) => ({ deadlineAt }));
  for (const deadline of there) deadlines.add(deadline);
  const since = performance.now();
  for (let at = 0; at < there.length; at += 100) {
    for (const served of there.slice(at, at + 100)) deadlines.remove(served);
    expect(deadlines.soonestAt).toBe(at + 100 < there.length ? at + 100 : Infinity);
  }
  expect(performance.now() - since).toBeLessThan(1_000);
});
