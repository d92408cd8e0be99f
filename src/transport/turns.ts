/** What waits for each other, as it has a key in common, or was before something that did. */
interface Chain {
  readonly keys: Set<string>;
  /** The end of the last turn. */
  end: Promise<void>;
}

/** What has a key in common goes one after the other: writes to one contact, and rows of a run. */
export class Turns {
  readonly #chains = new Map<string, Chain>();

  /** The ends of the turns for which a new one would wait; undefined if there are none. */
  before(keys: readonly string[]): Promise<unknown> | undefined {
    return this.#waitingFor(keys).before;
  }

  #waitingFor(keys: readonly string[]) {
    const chains = new Set(keys.flatMap((key) => this.#chains.get(key) ?? []));
    return { chains, before: chains.size > 0 ? Promise.all([...chains].map(({ end }) => end)) : undefined };
  }

  /** Takes a turn until the returned function is called. */
  hold(keys: readonly string[]): () => void {
    let end = (): void => undefined;
    void this.take(keys, () => new Promise<void>((resolve) => (end = resolve)));
    return end;
  }

  /** Takes a turn at once. `go` begins to wait for the turns before it, if there are any, and the turn ends with what it gives. */
  take<Result>(
    keys: readonly string[],
    go: (before: Promise<unknown> | undefined) => Promise<Result>,
  ): Promise<Result> {
    const { chains, before } = this.#waitingFor(keys);
    const result = go(before);
    // Includes the earlier turns: if this one ends before it has come, the next one still waits for them.
    const end = Promise.allSettled([before, result]).then(() => {
      for (const key of chain.keys)
        if (chain.end === end && this.#chains.get(key) === chain) this.#chains.delete(key);
    });
    // The keys of one turn are one contact's: until all its turns have ended, any of them leads to this chain.
    const [chain = { keys: new Set<string>(), end }, ...others] = chains;
    chain.end = end;
    for (const key of [...keys, ...others.flatMap((other) => [...other.keys])]) {
      chain.keys.add(key);
      this.#chains.set(key, chain);
    }
    return result;
  }
}
