import Bottleneck from "bottleneck/light.js";

/** A task that has begun. `ended` never rejects. */
export interface BegunTask {
  readonly ended: Promise<unknown>;
}

/**
 * Runs workers, at most `concurrency` at a time: each begins one task after the other, until `begin` gives none. They take
 * turns: a task begins after the one before it has begun. Resolves when all tasks have ended. `begin` must not reject.
 */
export async function runWorkers(
  concurrency: number,
  begin: () => Promise<BegunTask | undefined>,
): Promise<void> {
  // Of all but the first, so that neither its timers nor its clock can hold up the tasks (D63).
  const bottleneck = new Bottleneck({ maxConcurrent: concurrency - 1, rejectOnDrop: false });
  const workers: Promise<void>[] = [];
  /** Begins the last task so far; undefined once there is none. */
  let turn: Promise<BegunTask | undefined> | undefined;
  const beginNext = () => (turn = turn ? turn.then((last) => last && begin()) : begin());
  const startWorker = async (): Promise<void> => {
    const worker = work();
    workers.push(worker);
    await worker;
  };
  const work = async (): Promise<void> => {
    let task = await beginNext();
    // Before the first task of this worker there may be none for another. The ids that bottleneck makes are of `Math.random`.
    if (task && concurrency > 1) void bottleneck.schedule({ id: String(workers.length) }, startWorker);
    for (; task; task = await beginNext()) await task.ended;
  };
  void startWorker();
  // Also those that start meanwhile.
  for (const worker of workers) await worker;
  // Drops the workers that have not started. Not awaited: with a constant `Math.random` it may not resolve, and it rejects
  // where all objects inherit a property.
  bottleneck.stop().catch(() => undefined);
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
