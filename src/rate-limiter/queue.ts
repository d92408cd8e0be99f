/** An entry of the queue: level 0 goes first. */
interface Waiting {
  readonly level: number;
  readonly client: object;
  readonly deadlineAt: number;
}

/** The clients that wait at one level, the next one first: a Map keeps the order of insertion. */
type Level<T> = Map<object, Set<T>>;

/** A fair queue: the lowest level first, in it the clients by round robin, of each client first in, first out. */
export class FairQueue<T extends Waiting> {
  /** The number of entries. */
  size = 0;
  /** No deadline is before this; it may be that of one that has left. */
  soonestDeadlineAt = Infinity;
  readonly #levels: Level<T>[];

  constructor(levels: number) {
    this.#levels = Array.from({ length: levels }, () => new Map());
  }

  *[Symbol.iterator](): Iterator<T> {
    for (const level of this.#levels) for (const waiting of level.values()) yield* waiting;
  }

  add(one: T): void {
    const level = this.#level(one.level);
    const own = level.get(one.client);
    if (own) own.add(one);
    else level.set(one.client, new Set([one]));
    this.size += 1;
    this.soonestDeadlineAt = Math.min(this.soonestDeadlineAt, one.deadlineAt);
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

  /** The number of entries that would go before one that came now. */
  ahead({ level, client }: Pick<Waiting, "level" | "client">): number {
    const before = this.#levels.slice(0, level).flatMap((clients) => [...clients.values()]);
    const beside = this.#level(level);
    const own = beside.get(client)?.size ?? 0;
    const ofThisLevel = [...beside.values()].map(({ size }) => Math.min(size, own + 1));
    return [...before.map(({ size }) => size), ...ofThisLevel].reduce((sum, size) => sum + size, 0);
  }

  /** Removes the entries with a deadline before `time`, the soonest first. */
  expire(time: number): T[] {
    if (this.soonestDeadlineAt >= time) return [];
    const expired = [...this].filter(({ deadlineAt }) => deadlineAt < time);
    for (const one of expired) this.remove(one);
    this.soonestDeadlineAt = Infinity;
    for (const { deadlineAt } of this) this.soonestDeadlineAt = Math.min(this.soonestDeadlineAt, deadlineAt);
    return expired.toSorted((one, other) => one.deadlineAt - other.deadlineAt);
  }

  #level(number: number): Level<T> {
    return this.#levels[number]!; // priorities are checked where a call names one
  }
}
