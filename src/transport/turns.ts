/** What waits for each other, as it has a key in common, or was before something that did. */
interface Chain {
  readonly keys: Set<string>;
  /** The end of the last turn. */
  end: Promise<void>;
}

/** What has a key in common goes one after the other: writes to one contact, and rows of a run. */
export class Turns {
  readonly #chains = new Map<string, Chain>();

  /** Takes a turn at once. `before` resolves when it has come, and is undefined if it has; `end` ends it. */
  take(keys: readonly string[]): { readonly before: Promise<unknown> | undefined; readonly end: () => void } {
    const chains = new Set(keys.flatMap((key) => this.#chains.get(key) ?? []));
    const earlier = [...chains].map((chain) => chain.end);
    let end!: () => void; // by the promise's executor, which runs at once
    const ended = new Promise<void>((resolve) => (end = resolve));
    // Includes the earlier turns: if this one ends before it has come, the next one still waits for them.
    const last = Promise.all([...earlier, ended]).then(() => {
      for (const key of chain.keys)
        if (chain.end === last && this.#chains.get(key) === chain) this.#chains.delete(key);
    });
    // The keys of one turn are one contact's: until all its turns have ended, any of them leads to this chain.
    const [chain = { keys: new Set<string>(), end: last }, ...others] = chains;
    chain.end = last;
    for (const key of [...keys, ...others.flatMap((other) => [...other.keys])]) {
      chain.keys.add(key);
      this.#chains.set(key, chain);
    }
    return { before: earlier.length > 0 ? Promise.all(earlier) : undefined, end };
  }
}
