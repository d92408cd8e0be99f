import type { RateLimitWindow } from "../errors.ts";
import { SlidingWindowLog } from "../rate-limiter/sliding-window-log.ts";
import type { StorePlace } from "./place-store.ts";

/** The places of this process, by id, as long as they count: what a store that lost its memory is told again. */
export class OwnPlaces {
  /** When each was answered; undefined while it is in flight. */
  readonly #answeredAt = new Map<string, number | undefined>();
  readonly #countedMs: number;
  readonly #prefix = crypto.randomUUID();
  #made = 0;
  #inFlight = 0;

  /** `countedMs`: how long a place counts in the longest window. */
  constructor(countedMs: number, restored: readonly (readonly [id: string, answeredAt: number])[]) {
    this.#countedMs = countedMs;
    for (const [id, answeredAt] of restored) this.#answeredAt.set(id, answeredAt);
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get size(): number {
    return this.#answeredAt.size;
  }

  newId(): string {
    this.#made += 1;
    return `${this.#prefix}:${this.#made}`;
  }

  hold(id: string): void {
    this.#answeredAt.set(id, undefined);
    this.#inFlight += 1;
  }

  answer(id: string, answeredAt: number): void {
    this.#answeredAt.set(id, answeredAt);
    this.#inFlight -= 1;
  }

  forget(id: string): void {
    this.#answeredAt.delete(id);
    this.#inFlight -= 1;
  }

  /** All that still count, and when they were answered. */
  *entries(now: number): Generator<[id: string, answeredAt: number | undefined]> {
    for (const [id, answeredAt] of this.#answeredAt) {
      if (answeredAt !== undefined && answeredAt + this.#countedMs <= now) this.#answeredAt.delete(id);
      else yield [id, answeredAt];
    }
  }

  /** Those in flight. */
  *held(): Generator<string> {
    for (const [id, answeredAt] of this.#answeredAt) if (answeredAt === undefined) yield id;
  }

  /** Their count in each window, as if there were no others. */
  counted(windows: readonly RateLimitWindow[], now: number): SlidingWindowLog {
    const answers = Array.from(this.entries(now), ([, answeredAt]) => answeredAt);
    const count = new SlidingWindowLog(
      windows,
      answers.filter((at) => at !== undefined),
    );
    for (let call = 0; call < this.#inFlight; call += 1) count.acquire();
    return count;
  }

  /** The same as a store is told it. */
  stand(now: number): StorePlace[] {
    return Array.from(this.entries(now), ([id, answeredAt]) =>
      answeredAt === undefined
        ? { id, state: "held", agoMs: 0 }
        : { id, state: "answered", agoMs: now - answeredAt },
    );
  }
}
