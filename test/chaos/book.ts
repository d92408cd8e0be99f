import { copyFileSync, existsSync } from "node:fs";
import { type Checkpoint, fileCheckpoint, type OpenCheckpoint } from "audience-sdk/checkpoint";
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

/** A checkpoint that outlives its processes: lines in memory, or a file. */
export class Book {
  readonly name: string;
  readonly #time: ChaosTime;
  readonly #dice: Dice;
  readonly #lines: Lines;
  #file: string | undefined;
  #open: { readonly inner: OpenCheckpoint; readonly owner: Mortal } | undefined;

  constructor(
    name: string,
    { time, dice, folder }: { time: ChaosTime; dice: Dice; folder?: string | undefined },
  ) {
    this.name = name;
    this.#time = time;
    this.#dice = dice;
    this.#lines = new Lines(dice.split());
    this.#file = folder && `${folder}/${name}`;
  }

  /** The checkpoint as one process sees it. */
  for(owner: Mortal): Checkpoint {
    return { open: () => this.#openFor(owner) };
  }

  async #openFor(owner: Mortal): Promise<OpenCheckpoint> {
    const step = async <T>(work: () => T | Promise<T>): Promise<T> => {
      await this.#delay(owner);
      const result = await this.#time.outside(work);
      await this.#delay(owner);
      return result;
    };
    const inner = await step(() => this.#openInner(owner));
    async function* read(): AsyncGenerator<readonly [name: string, line: string]> {
      yield* await step(() => all(inner.entries));
    }
    return {
      entries: read(),
      // Of one name the last that was called counts: only the answers take their time.
      put: async (name, line, options) => {
        if (owner.isDead) await never();
        const stored = inner.put(name, line, options);
        stored.catch(() => undefined);
        await this.#delay(owner);
        await stored;
        await this.#delay(owner);
      },
      clear: () => step(() => inner.clear()),
      close: () =>
        step(async () => {
          await inner.close();
          this.#open = undefined;
        }),
    };
  }

  /** A process dies before or after each step. */
  async #delay(owner: Mortal): Promise<void> {
    await this.#time.sleep(this.#dice.int(0, 2));
    if (owner.isDead) await never();
  }

  async #openInner(owner: Mortal): Promise<OpenCheckpoint> {
    if (this.#open && !this.#open.owner.isDead) throw new Error("another run has the checkpoint open");
    const before = this.#open;
    const inner =
      this.#file === undefined
        ? this.#lines.open(owner, (delayMs) => this.#time.sleep(delayMs))
        : await this.#openFile();
    await before?.inner.close();
    this.#open = { inner, owner };
    return inner;
  }

  /** A killed process leaves its lock: here it is of a process that lives, so the file moves. */
  async #openFile(): Promise<OpenCheckpoint> {
    if (this.#open) {
      const left = this.#file!;
      this.#file = `${left}+`;
      if (existsSync(left)) copyFileSync(left, this.#file);
    }
    return await fileCheckpoint(this.#file!).open();
  }
}

export async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const read: Item[] = [];
  for await (const item of items) read.push(item);
  return read;
}
