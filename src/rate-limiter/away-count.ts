import type { RateLimitWindow } from "../errors.ts";
import type { Forecast } from "./forecast.ts";
import { widened, Windows } from "./windows.ts";

interface AwayState {
  readonly windows: readonly RateLimitWindow[];
  /** How many places were taken in each window at the last contact, by all; undefined if there was none yet. */
  readonly usedAtContact: readonly number[] | undefined;
  readonly contactMsAgo: number;
  readonly share: number;
  readonly now: number;
}

// What was sent before the store went away may arrive this much later.
const arrivesWithinMs = 5_000;

/**
 * The count of a process that goes on alone while the store is away.
 *
 * It uses its share of what was left of each limit, not of the limit: what all processes had sent before still counts at
 * the service. What they may have sent since the last contact counts as sent. One window later the share is of the whole.
 */
export class AwayCount {
  readonly #count: Windows;
  readonly #windows: readonly RateLimitWindow[];
  readonly #share: number;
  readonly #used: number[];
  readonly #usedUntil: number[];
  #taken = 0;

  constructor({ windows, usedAtContact, contactMsAgo, share, now }: AwayState) {
    this.#count = new Windows(windows);
    this.#windows = windows;
    this.#share = share;
    const sinceContact = Math.min(
      ...windows.map(({ limit, intervalMs }) => limit * (Math.floor(contactMsAgo / intervalMs) + 1)),
    );
    this.#used = windows.map(({ limit }, index) =>
      usedAtContact ? Math.min(limit, (usedAtContact[index] ?? limit) + sinceContact) : 0,
    );
    this.#usedUntil = windows.map(({ intervalMs }) => now + widened(intervalMs) + arrivesWithinMs);
  }

  /** Whether a share of some limit is no place at all: then nothing can be sent alone. */
  get isTooSmall(): boolean {
    return this.#windows.some(({ limit }) => Math.floor(limit * this.#share) < 1);
  }

  /** How many places were taken without the store. */
  get taken(): number {
    return this.#taken;
  }

  free(now: number, slowDownShare: number): number {
    this.#setLimits(now, slowDownShare);
    return this.#count.free(now);
  }

  etaMs(now: number, slowDownShare: number): number {
    const blockedMs = this.#setLimits(now, slowDownShare);
    return Math.max(blockedMs, this.#count.eta(1, now));
  }

  forecast(now: number, roundTripMs: number, startsInMs: number): Forecast {
    return this.#count.forecast(now, roundTripMs, startsInMs);
  }

  take(): void {
    this.#taken += 1;
    this.#count.take();
  }

  answer(at: number): void {
    this.#count.answer(at);
  }

  giveBack(): void {
    this.#count.giveBack();
  }

  /** Sets what each window allows now; gives how long one of them allows nothing. */
  #setLimits(now: number, slowDownShare: number): number {
    let blockedMs = 0;
    for (const [index, { limit }] of this.#windows.entries()) {
      const usedUntil = this.#usedUntil[index]!;
      const left = usedUntil > now ? limit - this.#used[index]! : limit;
      const allowed = Math.floor(left * this.#share);
      if (allowed === 0) blockedMs = Math.max(blockedMs, usedUntil - now);
      this.#count.setLimit(index, allowed === 0 ? 0 : Math.max(1, Math.floor(allowed * slowDownShare)));
    }
    return blockedMs;
  }
}
