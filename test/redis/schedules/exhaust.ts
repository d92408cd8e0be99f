import { everySchedule } from "./every-schedule.ts";
import { type Bound, World } from "./world.ts";

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
