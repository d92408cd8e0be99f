import { RateLimitWaitError, type RateLimitWindow } from "../errors.ts";
import type { ExpectedWait } from "./permit-request.ts";
import { type Allowance, allowanceOf, limitingWindow, permitsPerSpacing, spacingMs } from "./reserve.ts";
import type { Known, PermitStore } from "./store.ts";

// An average over about the last 50 calls: steadier than any one of them, and still following the network.
const averagedCalls = 50;
/** Within this time, as in one turn of the event loop, what is expected of a class stays the same, unless its permits change. */
const keptMs = 10;

/**
 * When the next calls leave, if they are all of one class and each takes `roundTripMs`. A call leaves once the call `limit`
 * positions before it was responded to one window ago, in every window. Computed once, as far as it is asked for.
 */
class Forecast {
  readonly madeAt: number;
  readonly #known: Known;
  readonly #allowance: Allowance;
  readonly #roundTripMs: number;
  readonly #windows: readonly { readonly limit: number; readonly countedMs: number }[];
  readonly #responses: number[];
  readonly #ofLast: number[];
  readonly #taken: number[];
  readonly #leaves: number[] = [];
  #spacingMs = 0;

  constructor(known: Known, reserve: number, roundTripMs: number, now: number) {
    const { log, limits } = known;
    this.madeAt = now;
    this.#known = known;
    this.#allowance = allowanceOf(log, limits, reserve, now);
    this.#roundTripMs = roundTripMs;
    this.#windows = log.countedMs.map((countedMs, index) => ({
      countedMs,
      // A limit of less than one permit counts as one call at a time.
      limit: Math.max(1, this.#allowance.limits[index]!),
    }));
    const permits = log.permits(now).map(({ isLast, respondedAt = now + roundTripMs / 2 }) => ({
      isLast,
      respondedAt,
    }));
    this.#responses = permits.map(({ respondedAt }) => respondedAt);
    this.#ofLast = permits.flatMap(({ isLast, respondedAt }) => (isLast ? [respondedAt] : []));
    this.#taken = log.takenByLast(-Infinity).slice(-permitsPerSpacing);
  }

  /** The time at which the call at `position` (1 is the next) leaves. */
  leavesAt(position: number): number {
    // After the first round of the largest limit the pattern repeats: the rounds far ahead are a multiplication.
    const round = Math.max(...this.#windows.map(({ limit }) => limit));
    const rounds = Math.max(0, Math.ceil(position / round) - 3);
    const computed = position - rounds * round;
    while (this.#leaves.length < computed) this.#compute();
    const last = this.#leaves[computed - 1]!; // of a position from 1 on
    return rounds === 0 ? last : last + rounds * (last - this.#leaves[computed - 1 - round]!);
  }

  #compute(): void {
    const taken = this.#taken;
    let leavesAt = this.#leaves.at(-1) ?? Math.max(this.#known.startAt, this.madeAt);
    for (const { limit, countedMs } of this.#windows)
      leavesAt = Math.max(leavesAt, (this.#responses.at(-limit) ?? -Infinity) + countedMs);
    if (this.#allowance.ofLongest) {
      // Ten leave together.
      if (this.#leaves.length % permitsPerSpacing === 0) this.#spacingMs = this.#spacingAt(leavesAt);
      if (this.#spacingMs > 0)
        leavesAt = Math.max(leavesAt, (taken.at(-permitsPerSpacing) ?? -Infinity) + this.#spacingMs);
      taken.push(leavesAt);
      this.#ofLast.push(leavesAt + this.#roundTripMs);
    }
    this.#leaves.push(leavesAt);
    this.#responses.push(leavesAt + this.#roundTripMs);
  }

  #spacingAt(time: number): number {
    const times = this.#ofLast;
    return spacingMs(this.#allowance.ofLongest, (ms) => {
      let [from, to] = [0, times.length];
      while (from < to) {
        const middle = (from + to) >> 1;
        if (times[middle]! + ms <= time) from = middle + 1;
        else to = middle;
      }
      return times.length - from;
    });
  }

  limitingWindow(position: number, now: number): RateLimitWindow | undefined {
    return limitingWindow(this.#allowance, this.#known.log, position, now);
  }
}

/** The waits of the calls that a store is asked for, as they are expected. */
export class Estimates {
  readonly #store: PermitStore;
  readonly #reserve: () => number;
  /** By whether it is of priority 9. */
  readonly #forecasts = new Map<boolean, Forecast>();
  /** The mean time from a permit to its response. */
  #roundTripMs = 0;
  #responses = 0;

  constructor(store: PermitStore, reserve: () => number) {
    this.#store = store;
    this.#reserve = reserve;
  }

  addRoundTrip(roundTripMs: number): void {
    this.#responses += 1;
    this.#roundTripMs += (roundTripMs - this.#roundTripMs) / Math.min(averagedCalls, this.#responses);
  }

  /** Permits, limits or a pause have changed. */
  changed(): void {
    this.#forecasts.clear();
  }

  #forecast(isLast: boolean, now: number): Forecast {
    const made = this.#forecasts.get(isLast);
    if (made && now - made.madeAt < keptMs) return made;
    const reserve = isLast ? this.#reserve() : 0;
    const forecast = new Forecast(this.#store.known(now), reserve, this.#roundTripMs, now);
    this.#forecasts.set(isLast, forecast);
    return forecast;
  }

  /** The time until the call at `position` (1 is the next) has its response, if all before it are of its class. */
  respondedInMs(isLast: boolean, position: number, now: number): number {
    return this.#waitMs(isLast, position, now) + this.#roundTripMs;
  }

  /** The time until it leaves. */
  wait(isLast: boolean, position: number, now: number): ExpectedWait {
    const waitMs = this.#waitMs(isLast, position, now);
    return { waitMs, isForOthers: isLast && waitMs > this.#waitMs(false, position, now) };
  }

  #waitMs(isLast: boolean, position: number, now: number): number {
    return Math.max(0, this.#forecast(isLast, now).leavesAt(position) - now);
  }

  /** The error of a call that gets no permit, by default as its wait would be too long. */
  error(isLast: boolean, position: number, now: number, reason?: string): RateLimitWaitError {
    const expected = this.wait(isLast, position, now);
    const waitMs = Math.ceil(expected.waitMs);
    const forOthers = expected.isForOthers
      ? " It leaves room for other calls: see the option `reserve`."
      : "";
    const why =
      reason ??
      `The wait of ${waitMs} ms is longer than \`maxWaitMs\`, of the call or its client, or \`deadlineMs\` allows.${forOthers}`;
    const window = this.#forecast(isLast, now).limitingWindow(position, now);
    const retryAt = new Date(Date.now() + waitMs);
    return new RateLimitWaitError({ message: `No permit. ${why}`, waitMs, retryAt, window });
  }
}
