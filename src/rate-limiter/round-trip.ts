// An average over about the last 50 calls: steadier than any one of them, and still following the network.
const leastWeight = 1 / 50;

/** The mean time from a place to its answer. */
export class RoundTrip {
  #calls = 0;
  #meanMs = 0;

  get meanMs(): number {
    return this.#meanMs;
  }

  add(durationMs: number): void {
    this.#calls += 1;
    this.#meanMs += (durationMs - this.#meanMs) * Math.max(leastWeight, 1 / this.#calls);
  }
}
