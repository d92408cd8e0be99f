import { expect, it } from "vitest";
import { base, exhaust } from "./schedules/exhaust.ts";

// A part of what test/soak/redis-in-virtual-time.test.ts enumerates. The number of schedules tells how much that is: it changes
// with the requests that processes send to Redis, and with the bound.
it.each([
  {
    title: "three troubles, at most one change in five seconds",
    bound: { ...base, troubles: 3, everyMs: 5_000 },
    schedules: 640,
    around: 129,
    most: 2,
  },
  {
    title: "no trouble, but one message or call that is slow or lost",
    bound: { ...base, troubles: 0, deviations: 1 },
    schedules: 79,
    around: 0,
    most: 0,
  },
])(
  "two processes with two calls a window exceed it only after Redis has failed, and then by two: $title",
  async ({ bound, schedules, around, most }) => {
    const { calls, without, ...result } = await exhaust(bound);
    expect(without?.trace).toBeUndefined();
    expect(result).toEqual({ schedules, around, most });
    // As many as the limit lets through, in nearly every schedule.
    expect(calls / result.schedules).toBeGreaterThan(3);
  },
);
