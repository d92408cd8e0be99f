/** Turns that wait for each other, as they have a key in common, or were before one that did. */
interface TurnChain {
  readonly keys: Set<string>;
  lastTurnEnd: Promise<void>;
}

/** Turns that have a key in common go one after the other: writes to one contact, and rows of a run. */
export class Turns {
  readonly #turnChains = new Map<string, TurnChain>();

  /** The ends of the turns for which a new one would wait; undefined if there are none. */
  before(keys: readonly string[]): Promise<unknown> | undefined {
    const chains = this.#chainsOf(keys);
    return chains.length > 0 ? Promise.all(chains.map(({ lastTurnEnd }) => lastTurnEnd)) : undefined;
  }

  #chainsOf(keys: readonly string[]): TurnChain[] {
    // Nearly always none: asked first, as each call asks several times.
    if (!keys.some((key) => this.#turnChains.has(key))) return [];
    return [...new Set(keys.flatMap((key) => this.#turnChains.get(key) ?? []))];
  }

  /** Takes a turn until the returned function is called. */
  hold(keys: readonly string[]): () => void {
    let endTurn = (): void => undefined;
    const turnEnd = new Promise<void>((resolve) => (endTurn = resolve));
    // Includes the earlier turns: if this one ends before it has come, the next one still waits for them.
    const before = this.before(keys);
    const lastTurnEnd = (before ? Promise.all([before, turnEnd]) : turnEnd).then(() => {
      if (chain.lastTurnEnd !== lastTurnEnd) return;
      for (const key of chain.keys) if (this.#turnChains.get(key) === chain) this.#turnChains.delete(key);
    });
    // The keys of one turn are one contact's: until all its turns have ended, any of them leads to this chain.
    const [chain = { keys: new Set<string>(), lastTurnEnd }, ...others] = this.#chainsOf(keys);
    chain.lastTurnEnd = lastTurnEnd;
    for (const key of [...keys, ...others.flatMap((other) => [...other.keys])]) {
      chain.keys.add(key);
      this.#turnChains.set(key, chain);
    }
    return endTurn;
  }

  /** Takes a turn at once. `turn` waits for the turns before it, if there are any, and has ended when its promise has. */
  async take<Result>(
    keys: readonly string[],
    turn: (before: Promise<unknown> | undefined) => Promise<Result>,
  ): Promise<Result> {
    const before = this.before(keys);
    // First, as `turn` may take another turn of these keys at once.
    const endTurn = this.hold(keys);
    try {
      return await turn(before);
    } finally {
      endTurn();
    }
  }
}
