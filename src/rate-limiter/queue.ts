/** An entry of the queue. */
interface Queued {
  readonly level: number;
  /** Of two entries of a client at a level, the one with the lower position goes first. */
  readonly position: number;
  readonly client: object;
}

/** The clients that wait at one level, the next one first: a Map keeps the order of insertion. */
type Level<T> = Map<object, T[]>;

/** A fair queue: the lowest level first, in it the clients by round robin, of each client the lowest position first. */
export class FairQueue<T extends Queued> {
  readonly #levels: Level<T>[];
  /** The entries at each level. */
  readonly #sizes: number[];

  constructor(levels: number) {
    this.#levels = Array.from({ length: levels }, () => new Map());
    this.#sizes = this.#levels.map(() => 0);
  }

  get size(): number {
    return this.sizeUpTo(this.#sizes.length - 1);
  }

  all(): T[] {
    return this.#levels.flatMap((level) => [...level.values()].flat());
  }

  add(one: T): void {
    const level = this.#level(one.level);
    const own = level.get(one.client) ?? [];
    // Nearly always at the end.
    own.splice(own.findLastIndex(({ position }) => position < one.position) + 1, 0, one);
    level.set(one.client, own);
    this.#sizes[one.level]! += 1;
  }

  /** Removes an entry anywhere in the queue. */
  remove(one: T): void {
    const level = this.#level(one.level);
    const own = level.get(one.client)!; // it waits there
    own.splice(indexOf(own, one), 1);
    if (own.length === 0) level.delete(one.client);
    this.#sizes[one.level]! -= 1;
  }

  /** The next entry, if one waits. */
  get head(): T | undefined {
    for (const level of this.#levels) for (const [head] of level.values()) return head;
    return undefined;
  }

  /** An entry has had its turn: its client goes to the end of its level. */
  rotate({ level: number, client }: T): void {
    const level = this.#level(number);
    const own = level.get(client)!; // it waits there
    level.delete(client);
    level.set(client, own);
  }

  /** The number of entries at a level and those before it. */
  sizeUpTo(level: number): number {
    let sum = 0;
    for (let at = 0; at <= level; at += 1) sum += this.#sizes[at]!;
    return sum;
  }

  /** The number of entries up to this one. Its client takes turns with the others, so each has at most as many before it. */
  sizeUpToEntry(one: T): number {
    const beside = this.#level(one.level);
    const turn = indexOf(beside.get(one.client)!, one) + 1; // it waits there
    const ofThisLevel = [...beside.values()].map(({ length }) => Math.min(length, turn));
    return ofThisLevel.reduce((sum, length) => sum + length, this.sizeUpTo(one.level - 1));
  }

  #level(number: number): Level<T> {
    return this.#levels[number]!; // priorities are checked where a call names one
  }
}

/** The index of an entry among those of its client, which are in the order of their positions. */
function indexOf<T extends Queued>(own: readonly T[], one: T): number {
  let [from, to] = [0, own.length - 1];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (own[middle]!.position < one.position) from = middle + 1;
    else to = middle;
  }
  return from;
}
