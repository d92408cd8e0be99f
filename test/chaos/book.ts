import { copyFileSync, existsSync } from "node:fs";
import { fileCheckpoint, type Checkpoint, type OpenCheckpoint } from "audience-sdk/checkpoint";
import type { ChaosTime } from "./chaos-time.ts";
import type { Dice } from "./dice.ts";
import { never, type Mortal } from "./network.ts";

/** A checkpoint that outlives its processes: a map in memory, or a file. */
export class Book {
  readonly name: string;
  readonly #time: ChaosTime;
  readonly #dice: Dice;
  readonly #values = new Map<string, string>();
  #file: string | undefined;
  #open: { readonly inner: OpenCheckpoint; readonly owner: Mortal } | undefined;

  constructor(
    name: string,
    { time, dice, folder }: { time: ChaosTime; dice: Dice; folder?: string | undefined },
  ) {
    this.name = name;
    this.#time = time;
    this.#dice = dice;
    this.#file = folder && `${folder}/${name}`;
  }

  /** The checkpoint as one process sees it. `onFirstRow`: the run has opened it, and looks up a row. */
  for(owner: Mortal, onFirstRow: () => void): Checkpoint {
    let isOpened = false;
    const step = async <T>(work: () => T | Promise<T>): Promise<T> => {
      await this.#delay(owner);
      const result = await this.#time.outside(work);
      await this.#delay(owner);
      return result;
    };
    return {
      open: async () => {
        const inner = await step(() => this.#openInner(owner));
        return {
          get: (key) => {
            if (!isOpened && key.startsWith("row:")) {
              isOpened = true;
              onFirstRow();
            }
            return step(() => inner.get(key));
          },
          set: (key, value, options) => step(() => inner.set(key, value, options)),
          clear: () => step(() => inner.clear()),
          close: () =>
            step(async () => {
              await inner.close();
              this.#open = undefined;
            }),
        };
      },
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
    const inner = this.#file === undefined ? inMemory(this.#values) : await this.#openFile();
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

function inMemory(values: Map<string, string>): OpenCheckpoint {
  return {
    get: (key) => values.get(key),
    set: (key, value) => void (value === undefined ? values.delete(key) : values.set(key, value)),
    clear: () => values.clear(),
    close: () => undefined,
  };
}
