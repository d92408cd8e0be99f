import { randomFrom } from "../rate-limiter/simulation.ts";

/** Random choices, the same for the same seed. */
export class Dice {
  readonly next: () => number;

  constructor(seed: number) {
    this.next = randomFrom(Math.imul(seed + 1, 0x9e3779b1));
  }

  /** Dice of their own, so that more throws of these change nothing there. */
  split(): Dice {
    return new Dice(Math.floor(this.next() * 2 ** 31));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** An integer from `min` to `max`, both included. */
  int(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1));
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.int(0, choices.length - 1)]!;
  }

  /** A random string of letters and digits. */
  word(length: number): string {
    return Array.from({ length }, () => this.pick([..."abcdefghijklmnopqrstuvwxyz0123456789"])).join("");
  }
}
