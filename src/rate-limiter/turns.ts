/** Something that waits for its turn: level 0 goes first. */
export interface Turn {
  readonly level: number;
  readonly client: object;
}

// The calls of one client, first in, first out. A Set keeps the order and lets any of them leave at once.
type ClientQueue<T> = Set<T>;
// Whose turn is next stands first: a Map keeps the order of insertion, and who was served goes to its end.
type Rotation<T> = Map<object, ClientQueue<T>>;

/** Who goes next: the lowest level, in it the clients in turn, of each client the one that has waited longest. */
export class Turns<T extends Turn> {
  readonly #levels: Rotation<T>[];
  readonly #sizes: number[];
  #size = 0;

  constructor(levels: number) {
    this.#levels = Array.from({ length: levels }, () => new Map());
    this.#sizes = this.#levels.map(() => 0);
  }

  get size(): number {
    return this.#size;
  }

  add(turn: T): void {
    const rotation = this.#levels[turn.level]!;
    const queue = rotation.get(turn.client);
    if (queue) queue.add(turn);
    else rotation.set(turn.client, new Set([turn]));
    this.#resize(turn.level, 1);
  }

  /** Takes one out wherever it stands; false where it no longer waits. */
  remove(turn: T): boolean {
    const rotation = this.#levels[turn.level]!;
    const queue = rotation.get(turn.client);
    if (!queue?.delete(turn)) return false;
    if (queue.size === 0) rotation.delete(turn.client);
    this.#resize(turn.level, -1);
    return true;
  }

  /** Takes out who goes next. */
  shift(): T | undefined {
    const level = this.#sizes.findIndex((size) => size > 0);
    const rotation = this.#levels[level];
    if (!rotation) return undefined;
    for (const [client, queue] of rotation) {
      for (const turn of queue) {
        this.remove(turn);
        if (queue.size > 0) {
          rotation.delete(client);
          rotation.set(client, queue);
        }
        return turn;
      }
    }
    return undefined;
  }

  /** How many would go before one that came now. */
  ahead({ level, client }: Turn): number {
    let ahead = 0;
    for (let before = 0; before < level; before += 1) ahead += this.#sizes[before]!;
    const rotation = this.#levels[level]!;
    const own = rotation.get(client)?.size ?? 0;
    if (own === 0) return ahead + rotation.size;
    for (const queue of rotation.values()) ahead += Math.min(queue.size, own + 1);
    return ahead;
  }

  /** Everything that one client waits for. */
  of(client: object): T[] {
    return this.#levels.flatMap((rotation) => [...(rotation.get(client) ?? [])]);
  }

  #resize(level: number, by: number): void {
    this.#sizes[level]! += by;
    this.#size += by;
  }
}
