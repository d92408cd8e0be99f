import type { Bound } from "./world.ts";

/** Two processes from the beginning, in a window that is longer than a recovery of Redis. */
export const base: Bound = {
  onUnavailable: "local",
  intervalMs: 7_000,
  troubles: 1,
  everyMs: 0,
  deviations: 0,
  bStartsUntil: 0,
  callsFrom: [[0, 0]],
  untilMs: 17_000,
};

/** Long enough for calls without Redis, its return, and the recovery in one window. */
export const long: Bound = { ...base, intervalMs: 10_000, untilMs: 28_000 };
