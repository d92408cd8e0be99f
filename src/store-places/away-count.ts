import type { RateLimitWindow } from "../errors.ts";
import type { Estimate } from "../rate-limiter/estimate.ts";
import { arrivalGraceMs } from "../rate-limiter/permit.ts";
import type { WindowUsage } from "../rate-limiter/sliding-window-log.ts";
import { widenedMs, SlidingWindowLog } from "../rate-limiter/sliding-window-log.ts";
import type { Outlook } from "./shared-view.ts";

interface AwayState {
  readonly windows: readonly RateLimitWindow[];
  /** How many places were taken in each window, as far as this process knows. */
  readonly used: readonly number[];
  /** How old that is; undefined where it met no other process yet, and so knows of none. */
  readonly seenMsAgo: number | undefined;
  readonly share: number;
  readonly now: number;
}

interface AwayWindow {
  readonly limit: number;
  /** What all had taken before the store went away, and until when that counts. */
  readonly used: number;
  readonly usedUntil: number;
}

/**
 * The count of a process that goes on alone while the store is away.
 *
 * It uses its share of what was left of each limit, not of the limit: what all processes had sent before still counts at
 * the service. What they may have sent since the last contact counts as sent. One window later the share is of the whole.
 */
export class AwayCount {
  readonly #count: SlidingWindowLog;
  readonly #windows: AwayWindow[];
  readonly #share: number;
  #taken = 0;

  constructor({ windows, used, seenMsAgo, share, now }: AwayState) {
    this.#count = new SlidingWindowLog(windows);
    this.#share = share;
    const most = (ms: number): number =>
      Math.min(...windows.map(({ limit, intervalMs }) => limit * (Math.floor(ms / intervalMs) + 1)));
    const sentSince = seenMsAgo === undefined ? 0 : most(seenMsAgo);
    this.#windows = windows.map(({ limit, intervalMs }, index) => ({
      limit,
      used: Math.min(limit, used[index]! + sentSince),
      usedUntil: now + widenedMs(intervalMs) + arrivalGraceMs,
    }));
  }

  /** Whether a share of some limit is no place at all: then nothing can be sent alone. */
  get isTooSmall(): boolean {
    return this.#windows.some(({ limit }) => Math.floor(limit * this.#share) < 1);
  }

  /** How many places were taken without the store. */
  get taken(): number {
    return this.#taken;
  }

  /** How many places the other processes can have taken meanwhile, each its share. */
  leftToOthers(now: number): number[] {
    return this.#windows.map(({ limit, used, usedUntil }) => {
      const left = usedUntil > now ? limit - used : limit;
      return Math.ceil(left * (1 - this.#share));
    });
  }

  free(now: number, slowDownShare: number): number {
    this.#setLimits(now, slowDownShare);
    return this.#count.available(now);
  }

  etaMs(now: number, slowDownShare: number): number {
    // What a window that allows nothing holds is waited for by nobody.
    const blockedMs = this.#setLimits(now, slowDownShare, Infinity);
    return Math.max(blockedMs, this.#count.nextAvailableInMs(now));
  }

  forecast(now: number, { roundTripMs, startsInMs, share }: Outlook): Estimate {
    // By what is allowed then: for now it may be nothing.
    this.#setLimits(now + startsInMs, share);
    return this.#count.estimate(now, roundTripMs, now + startsInMs);
  }

  /** What is left to the other processes counts as taken. */
  usage(now: number, slowDownShare: number): WindowUsage[] {
    const allowed = this.#allowed(now);
    this.#setLimits(now, slowDownShare);
    return this.#count.usage(now).map((window, index) => {
      const { limit, usedUntil } = this.#windows[index]!;
      const freeInMs = allowed[index]! > 0 ? window.freeInMs : Math.ceil(usedUntil - now);
      return { ...window, used: limit - allowed[index]! + window.used, freeInMs };
    });
  }

  take(): void {
    this.#taken += 1;
    this.#count.acquire();
  }

  answer(at: number): void {
    this.#count.responded(at);
  }

  giveBack(): void {
    this.#count.unsent();
  }

  /** Sets what each window allows now, `whereNone` where that is nothing; gives for how long yet one of them does so. */
  #setLimits(now: number, slowDownShare: number, whereNone = 0): number {
    let blockedMs = 0;
    const limits = this.#allowed(now).map((allowed, index) => {
      if (allowed > 0) return Math.max(1, Math.floor(allowed * slowDownShare));
      blockedMs = Math.max(blockedMs, this.#windows[index]!.usedUntil - now);
      return whereNone;
    });
    this.#count.limits = limits;
    return blockedMs;
  }

  /** This process's share of what is left in each window. */
  #allowed(now: number): number[] {
    return this.#windows.map(({ limit, used, usedUntil }) => {
      const left = usedUntil > now ? limit - used : limit;
      return Math.floor(left * this.#share);
    });
  }
}
