import { everySchedule } from "./every-schedule.ts";
import type { GuideCase } from "./guide-cases.ts";
import { type Bound, World } from "./world.ts";

interface Exhausted {
  schedules: number;
  /** The calls of all schedules. */
  calls: number;
  /** How many schedules exceed the limit, and the shortest of each kind. */
  readonly over: Partial<Record<GuideCase | "unnamed", number>>;
  readonly traces: Map<GuideCase | "unnamed", World>;
}

/** Runs every schedule within the bound. */
export async function exhaust(bound: Bound): Promise<Exhausted> {
  const result: Exhausted = { schedules: 0, calls: 0, over: {}, traces: new Map() };
  result.schedules = await everySchedule(async (choices) => {
    const world = new World(bound, choices);
    await world.run();
    result.calls += world.service.sent;
    const { over } = world;
    if (!over) return;
    result.over[over] = (result.over[over] ?? 0) + 1;
    const shortest = result.traces.get(over);
    if (!shortest || world.length < shortest.length) result.traces.set(over, world);
  });
  return result;
}
