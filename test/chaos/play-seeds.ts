import { defaultSteps } from "./plan.ts";
import { runSeed } from "./run-seed.ts";
import type { World } from "./world.ts";

/** Plays the seeds one after the other. The first that breaks a promise is shrunk to its fewest steps, and thrown. */
export async function playSeeds(
  seeds: Iterable<number>,
  { steps = defaultSteps, onWorld = () => {} }: { steps?: number; onWorld?: (world: World) => void } = {},
): Promise<void> {
  for (const seed of seeds) {
    const { broken, world } = await runSeed(seed, steps);
    onWorld(world);
    if (broken.length > 0) throw new Error(await report(seed, steps, broken));
  }
}

/** The first steps of a seed that still break a promise, and how to play them again. */
async function report(seed: number, steps: number, broken: readonly string[]): Promise<string> {
  let least = { steps, broken };
  for (let fewer = 1; fewer < steps; fewer++) {
    const ended = await runSeed(seed, fewer);
    if (ended.broken.length === 0) continue;
    least = { steps: fewer, broken: ended.broken };
    break;
  }
  return [
    `Seed ${seed} breaks promises of the contract, with ${least.steps} of its steps:`,
    ...least.broken.map((problem) => `- ${problem}`),
    `Play it again: CHAOS_SEED=${seed} CHAOS_STEPS=${least.steps} npm run soak -- chaos`,
  ].join("\n");
}

export function range(first: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => first + index);
}
