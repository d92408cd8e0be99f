import type { Checkpoint, OpenCheckpoint } from "audience-sdk/checkpoint";
import type { ChaosTime } from "./chaos-time.ts";
import type { Dice } from "./dice.ts";
import { type Mortal, never } from "./process.ts";

interface Line {
  readonly name: string;
  readonly text: string;
  /** A crash cannot lose it. */
  isSafe: boolean;
}

/** Lines in memory that are stored out of order. A crash leaves those whose `put` has resolved, and any of the others. */
class Lines {
  readonly #dice: Dice;
  #lines: Line[] = [];

  constructor(dice: Dice) {
    this.#dice = dice;
  }

  /** A new owner finds what the one before has left. */
  open(owner: Mortal, sleep: (delayMs: number) => Promise<void>): OpenCheckpoint {
    this.#crash();
    return {
      entries: this.#read(),
      put: async (name, text) => {
        const line = { name, text, isSafe: false };
        this.#lines.push(line);
        await sleep(this.#dice.pick([0, 0, 1, 30]));
        if (!owner.isDead) line.isSafe = true;
      },
      clear: async () => {
        this.#lines = [];
      },
      close: async () => undefined,
    };
  }

  #crash(): void {
    const share = this.#dice.pick([0, 0.5, 1]);
    const left = this.#lines.filter(({ isSafe }) => isSafe || this.#dice.chance(share));
    this.#lines = left.map((line) => ({ ...line, isSafe: true }));
  }

  /** Of one name the last that was called counts. */
  async *#read(): OpenCheckpoint["entries"] & AsyncGenerator<readonly [name: string, line: string]> {
    yield* new Map(this.#lines.map(({ name, text }) => [name, text]));
  }
}

/** A checkpoint that outlives its processes. */
export class Book {
  readonly name: string;
  readonly #time: ChaosTime;
  readonly #dice: Dice;
  readonly #lines: Lines;
  #owner: Mortal | undefined;

  constructor(name: string, time: ChaosTime, dice: Dice) {
    this.name = name;
    this.#time = time;
    this.#dice = dice;
    this.#lines = new Lines(dice.split());
  }

  /** The checkpoint as one process sees it. */
  for(owner: Mortal): Checkpoint {
    return { open: () => this.#openFor(owner) };
  }

  async #openFor(owner: Mortal): Promise<OpenCheckpoint> {
    await this.#delay(owner);
    if (this.#owner?.isDead === false) throw new Error("another run has the checkpoint open");
    this.#owner = owner;
    const inner = this.#lines.open(owner, this.#time.sleep);
    await this.#delay(owner);
    return {
      entries: inner.entries,
      // Of one name the last that was called counts: only the answers take their time.
      put: async (name, line, options) => {
        if (owner.isDead) await never();
        const stored = inner.put(name, line, options);
        await this.#delay(owner);
        await stored;
        await this.#delay(owner);
      },
      clear: async () => {
        await this.#delay(owner);
        await inner.clear();
        await this.#delay(owner);
      },
      close: async () => {
        await this.#delay(owner);
        this.#owner = undefined;
        await this.#delay(owner);
      },
    };
  }

  /** A process dies before or after each step. */
  async #delay(owner: Mortal): Promise<void> {
    await this.#time.sleep(this.#dice.int(0, 2));
    if (owner.isDead) await never();
  }
}
