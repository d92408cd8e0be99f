import { copyFileSync, existsSync } from "node:fs";
import { fileCheckpoint, type Checkpoint, type OpenCheckpoint } from "audience-sdk/checkpoint";
import type { ChaosTime } from "./chaos-time.ts";
import type { Dice } from "./dice.ts";
import { Lines } from "./lines.ts";
import { never, type Mortal } from "./network.ts";

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
    async function* read(): AsyncGenerator<string, void, undefined> {
      yield* await step(() => all(inner.lines));
    }
    return {
      lines: read(),
      // Lines count in the order of the calls: only the answers take their time.
      append: async (line, options) => {
        if (owner.isDead) await never();
        const appended = inner.append(line, options);
        appended.catch(() => undefined);
        await this.#delay(owner);
        await appended;
        await this.#delay(owner);
      },
      rewrite: (lines) => step(() => inner.rewrite(lines)),
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

async function all(lines: AsyncIterable<string>): Promise<string[]> {
  const read: string[] = [];
  for await (const line of lines) read.push(line);
  return read;
}
