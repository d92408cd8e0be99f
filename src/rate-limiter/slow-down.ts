const defaultPauseMs = 1_000;
const longestPauseMs = 3_600_000;
// Full pace is back after 100 successes, a little slower than the minute window's own pace: a stranger who spends the
// same IP's budget then costs a few refusals a minute, not a refusal per call.
const growthPerSuccess = 1 / 200;
const leastShare = 1 / 64;

/** What a 429 does: a pause for everybody, half the pace after it, and full pace again with success. */
export class SlowDown {
  #share: number;
  #pausedUntil: number;

  constructor(state: { share: number; pausedUntil: number } = { share: 1, pausedUntil: -Infinity }) {
    this.#share = state.share;
    this.#pausedUntil = state.pausedUntil;
  }

  /** The part of the limits in force, over 0 to 1. */
  get share(): number {
    return this.#share;
  }

  pausedMs(now: number): number {
    return Math.max(0, this.#pausedUntil - now);
  }

  refused(now: number, retryAfterMs = defaultPauseMs): void {
    // Calls that left together are refused together: that is one sign of being too fast, not ten.
    if (this.pausedMs(now) === 0) this.#share = Math.max(leastShare, this.#share / 2);
    const pauseMs = Math.min(longestPauseMs, Math.max(0, retryAfterMs));
    this.#pausedUntil = Math.max(this.#pausedUntil, now + pauseMs);
  }

  /** Takes over what a shared store says of all processes. */
  follow(share: number, pausedUntil: number): void {
    this.#share = share;
    this.#pausedUntil = Math.max(this.#pausedUntil, pausedUntil);
  }

  succeeded(): void {
    this.#share = Math.min(1, this.#share + growthPerSuccess);
  }
}
