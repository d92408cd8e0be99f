import type { OpenCheckpoint } from "audience-sdk/checkpoint";
import type { Dice } from "./dice.ts";
import type { Mortal } from "./network.ts";

interface Line {
  readonly text: string;
  /** A crash cannot lose it, nor any line before it. */
  isSafe: boolean;
}

/**
 * Lines in memory that are stored out of order. A crash leaves all up to the last one whose `append` has resolved, and any
 * of the others.
 */
export class Lines {
  readonly #dice: Dice;
  #lines: Line[] = [];

  constructor(dice: Dice) {
    this.#dice = dice;
  }

  /** A new owner finds what the one before has left. */
  open(owner: Mortal, sleep: (delayMs: number) => Promise<void>): OpenCheckpoint {
    this.#crash();
    return {
      lines: this.#read(),
      append: async (text) => {
        const line = { text, isSafe: false };
        const lines = this.#lines;
        lines.push(line);
        await sleep(this.#dice.pick([0, 0, 1, 30]));
        if (owner.isDead) return;
        for (const each of lines.slice(0, lines.indexOf(line) + 1)) each.isSafe = true;
      },
      rewrite: async (lines) => {
        this.#lines = Array.from(lines, (text) => ({ text, isSafe: true }));
      },
      close: async () => undefined,
    };
  }

  #crash(): void {
    const [isTorn, isGapped] = [this.#dice.chance(0.7), this.#dice.chance(0.3)];
    const safe = this.#lines.findLastIndex(({ isSafe }) => isSafe) + 1;
    const open = this.#lines.slice(safe);
    const left = isTorn ? open.slice(0, this.#dice.int(0, open.length)) : open;
    const kept = isGapped ? left.filter(() => this.#dice.chance(0.5)) : left;
    this.#lines = [...this.#lines.slice(0, safe), ...kept].map(({ text }) => ({ text, isSafe: true }));
  }

  async *#read(): AsyncGenerator<string, void, undefined> {
    yield* this.#lines.map(({ text }) => text);
  }
}
