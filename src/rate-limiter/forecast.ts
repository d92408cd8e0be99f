interface ForecastWindow {
  readonly countedMs: number;
  readonly limit: number;
}

interface ForecastState {
  /** Answers that still count, sorted; each call in flight as if answered at the expected time. */
  readonly history: number[];
  readonly windows: readonly ForecastWindow[];
  readonly roundTripMs: number;
  readonly now: number;
  /** Not before this: the end of a pause. */
  readonly startAt: number;
}

/**
 * When the coming calls leave and are answered, as far as the windows and a steady round trip tell.
 *
 * A call leaves once the call `limit` places before it was answered one window ago, in every window. So each is a few
 * comparisons; far ahead, the longest window makes the pattern repeat, and the rest is a multiplication.
 */
export class Forecast {
  readonly #answers: number[];
  readonly #first: number;
  readonly #windows: ForecastWindow[];
  readonly #now: number;
  readonly #roundTripMs: number;
  readonly #period: number;
  #last: number;

  constructor(state: ForecastState) {
    this.#answers = state.history;
    this.#first = state.history.length;
    this.#windows = state.windows.map(({ countedMs, limit }) => ({ countedMs, limit }));
    this.#now = state.now;
    this.#roundTripMs = state.roundTripMs;
    this.#period = Math.max(...this.#windows.map(({ limit }) => limit));
    this.#last = Math.max(state.now, state.startAt);
  }

  /** How long until the call number `place` (1 is the next) leaves, in milliseconds. */
  leavesInMs(place: number): number {
    const exact = this.#period * 4;
    if (place > exact) {
      const rounds = Math.ceil((place - exact) / this.#period);
      const steady = this.leavesInMs(exact) - this.leavesInMs(exact - this.#period);
      return this.leavesInMs(place - rounds * this.#period) + rounds * steady;
    }
    while (this.#answers.length - this.#first < place) this.#append();
    return this.#answers[this.#first + place - 1]! - this.#roundTripMs - this.#now;
  }

  /** How long until the call number `place` is answered, in milliseconds. */
  answeredInMs(place: number): number {
    return this.leavesInMs(place) + this.#roundTripMs;
  }

  #append(): void {
    let leaves = this.#last;
    for (const { limit, countedMs } of this.#windows) {
      const before = this.#answers[this.#answers.length - limit];
      if (before !== undefined) leaves = Math.max(leaves, before + countedMs);
    }
    this.#last = leaves;
    this.#answers.push(leaves + this.#roundTripMs);
  }
}
