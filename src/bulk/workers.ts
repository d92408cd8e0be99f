import Bottleneck from "bottleneck/light.js";

/** A task that has begun. `ended` never rejects. */
export interface BegunTask {
  readonly ended: Promise<unknown>;
}

/**
 * Workers, at most `concurrency` at a time: each begins one task after the other, until `begin` gives none. They take
 * turns: a task begins after the one before it has begun.
 */
export class Workers {
  readonly #concurrency: number;
  readonly #begin: () => Promise<BegunTask | undefined>;
  /** Runs all workers but the first, so that neither its timers nor its clock can hold up the tasks (D63). */
  readonly #bottleneck: Bottleneck;
  readonly #workers: Promise<void>[] = [];
  /** Begins the last task so far; undefined once there is none. */
  #turn: Promise<BegunTask | undefined> | undefined;

  /** `begin` must not reject. */
  constructor(concurrency: number, begin: () => Promise<BegunTask | undefined>) {
    this.#concurrency = concurrency;
    this.#begin = begin;
    this.#bottleneck = new Bottleneck({ maxConcurrent: concurrency - 1, rejectOnDrop: false });
  }

  /** Resolves when all tasks have ended. */
  async run(): Promise<void> {
    this.#workers.push(this.#work());
    // Also those that start meanwhile.
    for (const worker of this.#workers) await worker;
    // Drops the workers that have not started. Not awaited: with a constant `Math.random` it may not resolve.
    void this.#bottleneck.stop();
  }

  async #work(): Promise<void> {
    let task = await this.#beginNext();
    // Before the first task of this worker there may be none for another.
    if (task && this.#concurrency > 1) this.#startAnother();
    while (task) {
      await task.ended;
      task = await this.#beginNext();
    }
  }

  #beginNext(): Promise<BegunTask | undefined> {
    this.#turn = this.#turn ? this.#turn.then((last) => last && this.#begin()) : this.#begin();
    return this.#turn;
  }

  #startAnother(): void {
    // The ids that bottleneck makes are of `Math.random`, too.
    const id = String(this.#workers.length);
    void this.#bottleneck.schedule({ id }, async () => {
      const worker = this.#work();
      this.#workers.push(worker);
      await worker;
    });
  }
}

/** A row waits for the rows before it that have its key or one of its contacts. */
export class Turns {
  /** By key: the end of the last row that has it. */
  readonly #ends = new Map<string, Promise<void>>();

  /** Takes a turn at once. `before` resolves when it has come; `end` ends it. */
  take(keys: readonly string[]): { readonly before: Promise<unknown>; readonly end: () => void } {
    const before = Promise.all(keys.flatMap((key) => this.#ends.get(key) ?? []));
    let resolve!: () => void; // by the promise's executor, which runs at once
    const promise = new Promise<void>((resolved) => (resolve = resolved));
    for (const key of keys) this.#ends.set(key, promise);
    const end = () => {
      for (const key of keys) if (this.#ends.get(key) === promise) this.#ends.delete(key);
      resolve();
    };
    return { before, end };
  }
}
