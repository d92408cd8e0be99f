import { type Bound, Choices, World } from "./world.ts";

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

/**
 * Runs a program once for every sequence of choices, and returns the number of runs.
 *
 * It keeps no states: each run begins anew, repeats the choices of the run before up to one, and takes the next option there.
 */
async function everySchedule(run: (choices: Choices) => Promise<void>): Promise<number> {
  let runs = 0;
  for (let choices: Choices | undefined = new Choices(); choices; choices = choices.following()) {
    await run(choices);
    runs += 1;
  }
  return runs;
}

interface Exhausted {
  schedules: number;
  /** The calls of all schedules. */
  calls: number;
  /** How many schedules exceed the limit after Redis has failed, and by how many calls at most. */
  around: number;
  most: number;
  /** The shortest of those that exceed it though Redis has not failed. */
  without: World | undefined;
}

/** Runs every schedule within the bound. */
export async function exhaust(bound: Bound): Promise<Exhausted> {
  const result: Exhausted = { schedules: 0, calls: 0, around: 0, most: 0, without: undefined };
  result.schedules = await everySchedule(async (choices) => {
    const world = new World(bound, choices);
    await world.run();
    result.calls += world.service.sent;
    if (world.over === 0) return;
    if (world.hasFailed) {
      result.around += 1;
      result.most = Math.max(result.most, world.over);
    } else if (!result.without || world.length < result.without.length) result.without = world;
  });
  return result;
}
