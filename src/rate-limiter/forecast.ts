interface ForecastWindow {
  readonly countedMs: number;
  readonly limit: number;
}

interface ForecastState {
  /** Answers that still count, sorted; each call in flight as if answered at the expected time. */
  readonly history: number[];
  readonly windows: readonly ForecastWindow[];
  readonly roundTripMs: number;
  /** Not before this: now, or the end of a pause. */
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
  readonly #roundTripMs: number;
  readonly #period: number;
  #last: number;

  constructor(state: ForecastState) {
    this.#answers = state.history;
    this.#first = state.history.length;
    // Where a share of a window is no place: as if one call at a time could leave.
    this.#windows = state.windows.map(({ countedMs, limit }) => ({ countedMs, limit: Math.max(1, limit) }));
    this.#roundTripMs = state.roundTripMs;
    this.#period = Math.max(...this.#windows.map(({ limit }) => limit));
    this.#last = state.startAt;
  }

  /** When the call number `place` (1 is the next) leaves. */
  leavesAt(place: number): number {
    return this.answeredAt(place) - this.#roundTripMs;
  }

  /** When it is answered. */
  answeredAt(place: number): number {
    const exact = this.#period * 4;
    if (place > exact) {
      const rounds = Math.ceil((place - exact) / this.#period);
      const steadyMs = this.answeredAt(exact) - this.answeredAt(exact - this.#period);
      return this.answeredAt(place - rounds * this.#period) + rounds * steadyMs;
    }
    const index = this.#first + place - 1;
    while (this.#answers.length <= index) this.#append();
    return this.#answers[index]!; // there, as the loop has made it
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
