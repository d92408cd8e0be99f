import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { base, long } from "../redis/schedules/bounds.ts";
import { exhaust } from "../redis/schedules/exhaust.ts";
import { guideCases, type GuideCase } from "../redis/schedules/guide-cases.ts";
import type { World } from "../redis/schedules/world.ts";

/** The shortest schedule of each case, over all bounds. */
const shortest = new Map<GuideCase | "unnamed", World>();

// Every schedule within a bound is run. The number of schedules tells how much that is: it changes with the requests that
// processes send to Redis, and with the bound.
it.each([
  {
    title: "two troubles, which begin and end before any request",
    bound: { ...base, troubles: 2 },
    schedules: 146_397,
    over: { killedForgotten: 28, startedAlone: 203, startedUnnoticed: 26 },
  },
  {
    title: "three troubles, at most one change in 0.75 seconds",
    bound: { ...base, troubles: 3, everyMs: 750 },
    schedules: 113_427,
    over: { killedForgotten: 34, killedAlone: 2, startedAlone: 64 },
  },
  {
    title: "one trouble, with a process that starts before any request of the other, busy or idle",
    bound: { ...long, bStartsUntil: 8_000, callsFrom: [[0, 0] as const, [5_000, 5_000] as const] },
    schedules: 32_946,
    over: { startedAlone: 238, startedUnnoticed: 14 },
  },
  {
    title: "two troubles, with a process that starts late, long enough for calls without Redis",
    bound: { ...long, troubles: 2, everyMs: 2_500, bStartsUntil: 4_000 },
    schedules: 15_238,
    over: { startedAlone: 5, killedAlone: 8, startedUnnoticed: 3 },
  },
  {
    title: "one trouble, with one message or call that is slow or lost",
    bound: { ...base, deviations: 1, everyMs: 1_000 },
    schedules: 11_989,
    over: {},
  },
  {
    title: "two troubles in a window of one second, busy, idle, or one of both",
    bound: {
      ...base,
      intervalMs: 1_000,
      troubles: 2,
      everyMs: 500,
      callsFrom: [[0, 0] as const, [0, Infinity] as const, [4_000, 4_000] as const],
      untilMs: 12_000,
    },
    schedules: 16_080,
    over: { startedAlone: 6, startedUnnoticed: 1 },
  },
  {
    title: 'two troubles, with a process that starts late and `onUnavailable: "reject"`',
    bound: { ...base, onUnavailable: "reject" as const, troubles: 2, everyMs: 1_000, bStartsUntil: 4_000 },
    schedules: 41_875,
    over: { startedUnnoticed: 3 },
  },
])("two processes exceed their limit only as the guide says: $title", async ({ bound, schedules, over }) => {
  const result = await exhaust(bound);
  console.log(`${result.schedules} schedules, ${result.calls} calls`, result.over);
  for (const [name, world] of result.traces) {
    const known = shortest.get(name);
    if (!known || world.length < known.length) shortest.set(name, world);
  }
  expect({ schedules: result.schedules, over: result.over }).toEqual({ schedules, over });
});

// After all bounds: each contributes its shortest schedules.
it("each case of the guide has a shortest schedule, as the table shows", async () => {
  const guide = readFileSync("examples/guides/rate-limits-over-several-processes.md", "utf8");
  const tables = Object.entries(guideCases).map(([name, words]) => {
    expect(guide).toContain(words);
    return `## ${words}\n\n${String(shortest.get(name as GuideCase)?.trace)}\n`; // Safe: a key of the cases
  });
  const text = `# Calls over the limit\n\nThe shortest schedule of each case that the guide names.\n\n${tables.join("\n")}`;
  await expect(text).toMatchFileSnapshot("../redis/schedules/over-the-limit.md");
});
