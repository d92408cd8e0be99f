import type { RateLimitWindow, WaitFacts } from "../error-facts.ts";
import type { ExpectedWait } from "./fair-queue.ts";
import { Allowance } from "./reserve.ts";
import { SlidingWindowLog } from "./sliding-window-log.ts";
import type { Known, PermitStore } from "./store.ts";

// An average over about the last 50 calls: steadier than any one of them, and still following the network.
const averagedCalls = 50;
/** Within this time, as in one turn of the event loop, what is expected of a class stays the same, unless its permits change. */
const keptMs = 10;

/** When a call leaves, and the window for which it waits, if it waits for one. */
interface Leaving {
  readonly at: number;
  readonly window: RateLimitWindow | undefined;
}

/**
 * When the next calls leave, if they are all of one class and each takes `roundTripMs`: they take their permits from a copy of
 * the log. Computed once, as far as it is asked for.
 */
class Forecast {
  readonly madeAt: number;
  readonly #isLast: boolean;
  readonly #startAt: number;
  readonly #roundTripMs: number;
  readonly #log: SlidingWindowLog;
  readonly #allowance: Allowance;
  readonly #leaving: Leaving[] = [];
  #paceMs = 0;

  constructor(
    { log, limits, startAt }: Known,
    isLast: boolean,
    reserve: number,
    roundTripMs: number,
    now: number,
  ) {
    this.madeAt = now;
    this.#isLast = isLast;
    this.#startAt = startAt;
    this.#roundTripMs = roundTripMs;
    const permits = log.permits(now).map((permit) => ({
      ...permit,
      respondedAt: permit.respondedAt ?? now + roundTripMs / 2,
    }));
    this.#log = new SlidingWindowLog(log.windows, permits);
    // A limit of less than one permit counts as one call at a time.
    const usable = limits.map((limit) => Math.max(1, limit));
    this.#allowance = new Allowance(this.#log, usable, isLast ? reserve : 0, now);
  }

  /** The leaving of the call at `position` (1 is the next). */
  leaving(position: number): Leaving {
    // After the first round of the largest limit the pattern repeats: the rounds far ahead are a multiplication.
    const round = this.#allowance.largest;
    const rounds = Math.max(0, Math.ceil(position / round) - 3);
    const computed = position - rounds * round;
    while (this.#leaving.length < computed) this.#compute();
    const last = this.#leaving[computed - 1]!; // of a position from 1 on
    if (rounds === 0) return last;
    const roundMs = last.at - this.#leaving[computed - 1 - round]!.at;
    return { at: last.at + rounds * roundMs, window: last.window };
  }

  #compute(): void {
    const before = this.#leaving.at(-1) ?? { at: this.#startAt, window: undefined };
    // Ten leave together.
    if (this.#paceMs === 0 || this.#allowance.next(before.at, this.#paceMs).waitMs > 0)
      this.#paceMs = this.#allowance.paceMs(before.at);
    const { waitMs, window = before.window } = this.#allowance.next(before.at, this.#paceMs);
    const at = before.at + waitMs;
    const permit = this.#log.take({ isLast: this.#isLast, id: "" }, at);
    this.#log.release(permit, "responded", at + this.#roundTripMs);
    this.#leaving.push({ at, window });
  }
}

/** Why a call gets no permit. */
export type Refusal = WaitFacts & { readonly message: string };

/** The waits of the calls that a store is asked for, as they are expected. */
export class Forecasts {
  readonly #store: PermitStore;
  readonly #reserve: () => number;
  /** By whether it is of priority 9. */
  readonly #made = new Map<boolean, Forecast>();
  #roundTripMs = 0;
  #responses = 0;

  constructor(store: PermitStore, reserve: () => number) {
    this.#store = store;
    this.#reserve = reserve;
  }

  /** The mean time from a permit to its response. */
  get roundTripMs(): number {
    return this.#roundTripMs;
  }

  addRoundTrip(roundTripMs: number): void {
    this.#responses += 1;
    this.#roundTripMs += (roundTripMs - this.#roundTripMs) / Math.min(averagedCalls, this.#responses);
  }

  /** Permits, limits or a pause have changed. */
  changed(): void {
    this.#made.clear();
  }

  #leaving(isLast: boolean, position: number, now: number): Leaving {
    let forecast = this.#made.get(isLast);
    if (!forecast || now - forecast.madeAt >= keptMs) {
      forecast = new Forecast(this.#store.known(now), isLast, this.#reserve(), this.#roundTripMs, now);
      this.#made.set(isLast, forecast);
    }
    return forecast.leaving(position);
  }

  /** The time until the call at `position` (1 is the next) leaves, if all before it are of its class. */
  waitMs(isLast: boolean, position: number, now: number): number {
    return Math.max(0, this.#leaving(isLast, position, now).at - now);
  }

  wait(isLast: boolean, position: number, now: number): ExpectedWait {
    const waitMs = this.waitMs(isLast, position, now);
    return { waitMs, isForOthers: isLast && waitMs > this.waitMs(false, position, now) };
  }

  /** What the error says of a call that gets no permit, by default as its wait would be too long. */
  refusal(isLast: boolean, position: number, now: number, reason?: string): Refusal {
    const expected = this.wait(isLast, position, now);
    const { window } = this.#leaving(isLast, position, now);
    const waitMs = Math.ceil(expected.waitMs);
    const forOthers = expected.isForOthers
      ? " It leaves room for other calls: see the option `reserve`."
      : "";
    const why =
      reason ??
      `The wait of ${waitMs} ms is longer than \`maxWaitMs\`, of the call or its client, or \`deadlineMs\` allows.${forOthers}`;
    return { message: `No permit. ${why}`, waitMs, retryAt: new Date(Date.now() + waitMs), window };
  }
}
