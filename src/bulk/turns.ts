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
