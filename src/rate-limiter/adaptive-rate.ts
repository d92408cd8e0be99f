import type { RateLimitWindow } from "../errors.ts";
import { longestWindowMs } from "../limits.ts";

const defaultPauseMs = 1_000;
/** Requests that left together are refused within this time: ten 429s halve the rate once. */
export const burstMs = 500;
/** The longest pause after a 429: at its end every call that was counted has left its window ("Limits"). */
export const longestPauseMs = longestWindowMs;
/**
 * What a success adds to the rate factor. The full rate is back after 100 successes, a little slower than the minute
 * window's own pace: another program on the same IP then costs a few refusals a minute, not one per call.
 */
export const growthPerSuccess = 1 / 200;
export const leastRateFactor = 1 / 64;

/** The effect of a 429: a pause for all calls, then half the rate, and with success the full rate again. */
export class AdaptiveRate {
  /** The rate factor: the part of the limits that is in force, over 0 to 1. */
  factor: number;
  readonly #windows: readonly RateLimitWindow[];
  #pausedUntil: number;
  #slowedAt = -Infinity;

  constructor(
    windows: readonly RateLimitWindow[],
    { rateFactor, pausedUntil } = { rateFactor: 1, pausedUntil: -Infinity },
  ) {
    this.#windows = windows;
    this.#pausedUntil = pausedUntil;
    this.factor = rateFactor;
  }

  pausedMs(now: number): number {
    return Math.max(0, this.#pausedUntil - now);
  }

  refused(now: number, retryAfterMs = defaultPauseMs): void {
    if (this.pausedMs(now) === 0 && now - this.#slowedAt >= burstMs) {
      this.#slowedAt = now;
      this.factor = Math.max(leastRateFactor, this.factor / 2);
    }
    this.pause(now, retryAfterMs);
  }

  pause(now: number, pauseMs: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, now + Math.min(longestPauseMs, Math.max(0, pauseMs)));
  }

  succeeded(): void {
    this.factor = Math.min(1, this.factor + growthPerSuccess);
  }

  /** The limits in force of a process that may use this share of them. A 429 means a slower pace, not a smaller budget (D46). */
  limits(share = 1): number[] {
    return this.#windows.map((window, index) => {
      const limit = Math.floor(window.limit * share);
      const isLongest = index === this.#windows.length - 1;
      return isLongest ? limit : Math.max(1, Math.floor(limit * this.factor));
    });
  }
}
