import { beforeEach, expect, it, vi } from "vitest";
import { base, exhaust, long } from "../redis/schedules/exhaust.ts";

// Questions of several processes are moved apart by a random time.
beforeEach(() => void vi.spyOn(Math, "random").mockReturnValue(0.5));

// Every schedule within a bound is run.
it.each([
  { title: "one trouble before any request", bound: base },
  {
    title: "two troubles, at most one change in 0.75 seconds",
    bound: { ...base, troubles: 2, everyMs: 750 },
  },
  {
    title: "three troubles, at most one change in 2 seconds",
    bound: { ...base, troubles: 3, everyMs: 2_000 },
  },
  {
    title: "one trouble, with a process that starts before any request of the other, busy or idle",
    bound: { ...long, bStartsUntil: 2_000, callsFrom: [[0, 0] as const, [5_000, 5_000] as const] },
  },
  {
    title: "two troubles, with a process that starts late, long enough for calls without Redis",
    bound: { ...long, troubles: 2, everyMs: 4_000, bStartsUntil: 4_000 },
  },
  {
    title: "one trouble, with one message or call that is slow or lost",
    bound: { ...base, deviations: 1, everyMs: 1_000 },
  },
  {
    title: "two troubles in a window of one second, busy, idle, or one of both",
    bound: {
      ...base,
      intervalMs: 1_000,
      troubles: 2,
      everyMs: 1_000,
      callsFrom: [[0, 0] as const, [0, Infinity] as const, [4_000, 4_000] as const],
      untilMs: 12_000,
    },
  },
  {
    title: 'two troubles, with a process that starts late and `onUnavailable: "reject"`',
    bound: { ...base, onUnavailable: "reject" as const, troubles: 2, everyMs: 2_500, bStartsUntil: 4_000 },
  },
])(
  "two processes with two calls a window exceed it only after Redis has failed, and then by two: $title",
  async ({ bound }) => {
    const { without, ...result } = await exhaust(bound);
    console.log(result);
    expect(without?.trace).toBeUndefined();
    expect(result.most).toBeLessThanOrEqual(2);
  },
);
