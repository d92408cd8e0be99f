import type { RateLimitWindow } from "../errors.ts";

const defaultPauseMs = 1_000;
/** The longest pause that a 429 can ask for. */
export const longestPauseMs = 3_600_000;
/**
 * What a success adds to the rate factor. The full rate is back after 100 successes, a little slower than the minute
 * window's own pace: another program on the same IP then costs a few refusals a minute, not one per call.
 */
export const growthPerSuccess = 1 / 200;
export const leastRateFactor = 1 / 64;

/** The effect of a 429: a pause for all calls, then half the rate, and with success the full rate again. */
export class AdaptiveRate {
  #factor: number;
  #pausedUntil: number;

  constructor(state: { share: number; pausedUntil: number } = { share: 1, pausedUntil: -Infinity }) {
    this.#factor = state.share;
    this.#pausedUntil = state.pausedUntil;
  }

  /** The part of the limits in force, over 0 to 1. */
  get factor(): number {
    return this.#factor;
  }

  pausedMs(now: number): number {
    return Math.max(0, this.#pausedUntil - now);
  }

  refused(now: number, retryAfterMs = defaultPauseMs): void {
    // Requests that left together are refused together: that is one sign of being too fast, not ten.
    if (this.pausedMs(now) === 0) this.#factor = Math.max(leastRateFactor, this.#factor / 2);
    const pauseMs = Math.min(longestPauseMs, Math.max(0, retryAfterMs));
    this.#pausedUntil = Math.max(this.#pausedUntil, now + pauseMs);
  }

  succeeded(): void {
    this.#factor = Math.min(1, this.#factor + growthPerSuccess);
  }

  /** Adopts the rate of all processes, as a shared store reports it. */
  follow(factor: number, pausedUntil: number): void {
    this.#factor = factor;
    this.#pausedUntil = Math.max(this.#pausedUntil, pausedUntil);
  }
}

/** Of which windows a 429 lowers the limits: all but the longest, as a slower pace is meant, not a smaller budget. */
export function isAdaptive(window: RateLimitWindow, windows: readonly RateLimitWindow[]): boolean {
  return windows.some(({ intervalMs }) => intervalMs > window.intervalMs);
}

/** The limits in force, one for each window. */
export function limitsInForce(windows: readonly RateLimitWindow[], factor: number): number[] {
  return windows.map((window) =>
    isAdaptive(window, windows) ? Math.max(1, Math.floor(window.limit * factor)) : window.limit,
  );
}
