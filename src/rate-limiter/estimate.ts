interface EstimateState {
  /** Responses that still count, sorted; each call in flight as if responded to at the expected time. */
  readonly responses: number[];
  readonly windows: readonly { readonly countedMs: number; readonly limit: number }[];
  readonly roundTripMs: number;
  /** Not before this: now, or the end of a pause. */
  readonly startAt: number;
}

/**
 * Estimates when the next calls leave and get their responses, from the windows and a steady round trip.
 *
 * A call leaves once the call `limit` positions before it was responded to one window ago, in every window. Far ahead,
 * the longest window makes the pattern repeat, and the rest is a multiplication.
 */
export class Estimate {
  readonly #responses: number[];
  readonly #first: number;
  readonly #windows: EstimateState["windows"];
  readonly #roundTripMs: number;
  readonly #period: number;
  #lastLeftAt: number;

  constructor({ responses, windows, roundTripMs, startAt }: EstimateState) {
    this.#responses = responses;
    this.#first = responses.length;
    // A limit of less than one permit counts as one call at a time.
    this.#windows = windows.map(({ countedMs, limit }) => ({ countedMs, limit: Math.max(1, limit) }));
    this.#roundTripMs = roundTripMs;
    this.#period = Math.max(...this.#windows.map(({ limit }) => limit));
    this.#lastLeftAt = startAt;
  }

  /** When the call at `position` (1 is the next) leaves. */
  leavesAt(position: number): number {
    return this.respondedAt(position) - this.#roundTripMs;
  }

  respondedAt(position: number): number {
    const exact = this.#period * 4;
    if (position > exact) {
      const rounds = Math.ceil((position - exact) / this.#period);
      const roundMs = this.respondedAt(exact) - this.respondedAt(exact - this.#period);
      return this.respondedAt(position - rounds * this.#period) + rounds * roundMs;
    }
    const index = this.#first + position - 1;
    while (this.#responses.length <= index) this.#append();
    return this.#responses[index]!; // there, as the loop has made it
  }

  #append(): void {
    for (const { limit, countedMs } of this.#windows) {
      const before = this.#responses.at(-limit);
      if (before !== undefined) this.#lastLeftAt = Math.max(this.#lastLeftAt, before + countedMs);
    }
    this.#responses.push(this.#lastLeftAt + this.#roundTripMs);
  }
}
