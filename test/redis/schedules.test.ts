import { expect, it } from "vitest";
import { base, long } from "./schedules/bounds.ts";
import { exhaust } from "./schedules/exhaust.ts";

// A part of what test/soak/redis-schedules.test.ts enumerates. The number of schedules tells how much that is: it changes
// with the requests that processes send to Redis, and with the bound.
it.each([
  {
    title: "one trouble before any request",
    bound: base,
    schedules: 782,
    over: { startedAlone: 10, startedUnnoticed: 1 },
  },
  {
    title: "two troubles, at most one change in four seconds",
    bound: { ...long, troubles: 2, everyMs: 4_000 },
    schedules: 1_603,
    over: {},
  },
  {
    title: "three troubles, at most one change in four seconds",
    bound: { ...base, troubles: 3, everyMs: 4_000 },
    schedules: 1_481,
    over: {},
  },
  {
    title: "no trouble, but one message or call that is slow or lost",
    bound: { ...base, troubles: 0, deviations: 1 },
    schedules: 77,
    over: {},
  },
])("two processes exceed their limit only as the guide says: $title", async ({ bound, schedules, over }) => {
  const result = await exhaust(bound);
  expect({ schedules: result.schedules, over: result.over }).toEqual({ schedules, over });
  // As many as the limit lets through, in nearly every schedule.
  expect(result.calls / result.schedules).toBeGreaterThan(3);
});
