/** Something that waits for its turn: level 0 goes first. */
export interface Turn {
  readonly level: number;
  readonly client: object;
}

// The calls of one client, first in, first out. A Set keeps the order and lets any of them leave at once.
type ClientQueue<T> = Set<T>;

interface Level<T> {
  /** Whose turn is next stands first: a Map keeps the order of insertion, and who was served goes to its end. */
  readonly rotation: Map<object, ClientQueue<T>>;
  size: number;
}

/** Who goes next: the lowest level, in it the clients in turn, of each client the one that has waited longest. */
export class Turns<T extends Turn> {
  readonly #levels: Level<T>[];
  #size = 0;

  constructor(levels: number) {
    this.#levels = Array.from({ length: levels }, () => ({ rotation: new Map(), size: 0 }));
  }

  get size(): number {
    return this.#size;
  }

  add(turn: T): void {
    const level = this.#level(turn.level);
    const queue = level.rotation.get(turn.client);
    if (queue) queue.add(turn);
    else level.rotation.set(turn.client, new Set([turn]));
    level.size += 1;
    this.#size += 1;
  }

  /** Takes one out wherever it stands; false where it no longer waits. */
  remove(turn: T): boolean {
    const level = this.#level(turn.level);
    const queue = level.rotation.get(turn.client);
    if (!queue?.delete(turn)) return false;
    if (queue.size === 0) level.rotation.delete(turn.client);
    level.size -= 1;
    this.#size -= 1;
    return true;
  }

  /** Takes out who goes next. */
  shift(): T | undefined {
    const rotation = this.#levels.find(({ size }) => size > 0)?.rotation;
    if (!rotation) return undefined;
    // True: somebody waits there, so a client has a queue, and the queue a turn.
    const [client, queue] = rotation.entries().next().value!;
    const turn = queue.values().next().value!;
    this.remove(turn);
    if (queue.size > 0) {
      rotation.delete(client);
      rotation.set(client, queue);
    }
    return turn;
  }

  /** How many would go before one that came now. */
  ahead(turn: Turn): number {
    let ahead = 0;
    for (const { size } of this.#levels.slice(0, turn.level)) ahead += size;
    const { rotation } = this.#level(turn.level);
    const own = rotation.get(turn.client)?.size ?? 0;
    for (const queue of rotation.values()) ahead += Math.min(queue.size, own + 1);
    return ahead;
  }

  #level(number: number): Level<T> {
    return this.#levels[number]!; // priorities are checked when a call asks for its place
  }
}
