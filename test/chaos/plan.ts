import { Dice } from "./dice.ts";

const usual = {
  write: 14,
  read: 3,
  list: 3,
  click: 3,
  night: 5,
  fault: 9,
  strangers: 1,
  kill: 2,
  close: 1,
  redis: 2,
};

export type Act = keyof typeof usual;

/** Night after night, with writes between and during them. */
const manyNights: Record<Act, number> = { ...usual, click: 9, night: 20, read: 0, list: 0, fault: 5 };

/** One thing that happens; its own seed decides everything about it. */
export interface Step {
  readonly at: number;
  readonly act: Act;
  readonly seed: number;
}

export const defaultSteps = 30;

/** The steps of a seed, in the order of their times. Fewer steps are the first ones of the same. */
export function planOf(seed: number, steps: number): Step[] {
  const dice = new Dice(seed);
  const weights = dice.chance(0.3) ? manyNights : usual;
  const acts = Object.entries(weights).flatMap(([act, weight]) => Array<string>(weight).fill(act));
  // Bursts, and pauses in which everything ends.
  const pauses = dice.pick([
    [0, 0, 1, 20, 300],
    [0, 0, 0, 50, 4_000],
    [0, 1, 15_000],
  ]);
  let at = 0;
  return Array.from({ length: steps }, () => {
    at += dice.pick(pauses);
    // Safe: one of the keys.
    return { at, act: dice.pick(acts) as Act, seed: dice.int(0, 2 ** 30) };
  });
}
