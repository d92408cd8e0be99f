interface Waiting {
  readonly level: number;
  /** Of two entries of a client at a level, the one with the lower place goes first. */
  readonly place: number;
  readonly client: object;
}

/** The clients that wait at one level, the next one first: a Map keeps the order of insertion. */
type Level<T> = Map<object, Set<T>>;

/** A fair queue: the lowest level first, in it the clients by round robin, of each client first in, first out. */
export class FairQueue<T extends Waiting> {
  size = 0;
  readonly #levels: Level<T>[];

  constructor(levels: number) {
    this.#levels = Array.from({ length: levels }, () => new Map());
  }

  *[Symbol.iterator](): Iterator<T> {
    for (const level of this.#levels) for (const waiting of level.values()) yield* waiting;
  }

  add(one: T): void {
    const level = this.#level(one.level);
    const own = level.get(one.client) ?? new Set();
    level.set(one.client, own.add(one));
    this.size += 1;
  }

  /** As `add`, for an entry that may come after others of a higher place. */
  addLate(one: T): void {
    this.add(one);
    const own = this.#level(one.level).get(one.client)!; // it has just been added
    for (const other of [...own].filter(({ place }) => place > one.place)) {
      own.delete(other);
      own.add(other);
    }
  }

  /** Removes an entry at any position, unless it has left already. */
  remove(one: T): void {
    const level = this.#level(one.level);
    const own = level.get(one.client);
    if (!own?.delete(one)) return;
    if (own.size === 0) level.delete(one.client);
    this.size -= 1;
  }

  /** Removes the next entry, if one waits; its client goes to the end of its level. */
  shift(): T {
    const level = this.#levels.find((clients) => clients.size > 0)!; // one waits
    const [client, own] = level.entries().next().value!; // a level with a client in it
    const one = own.values().next().value!; // and a client is only there while it waits
    this.remove(one);
    if (level.delete(client)) level.set(client, own);
    return one;
  }

  /** The number of entries at a level and those before it. */
  sizeUpTo(level: number): number {
    const clients = this.#levels.slice(0, level + 1).flatMap((each) => [...each.values()]);
    return clients.reduce((sum, { size }) => sum + size, 0);
  }

  /** The position of an entry, from 1. Its client takes turns with the others, so each has at most as many before it. */
  position(one: T): number {
    const beside = this.#level(one.level);
    const turn = [...beside.get(one.client)!].indexOf(one) + 1; // it waits there
    const ofThisLevel = [...beside.values()].map(({ size }) => Math.min(size, turn));
    return ofThisLevel.reduce((sum, size) => sum + size, this.sizeUpTo(one.level - 1));
  }

  #level(number: number): Level<T> {
    return this.#levels[number]!; // priorities are checked where a call names one
  }
}
