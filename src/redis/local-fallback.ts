import type { RateLimitWindow } from "../errors.ts";
import { limitsInForce } from "../rate-limiter/adaptive-rate.ts";
import type { Estimate } from "../rate-limiter/estimate.ts";
import { arrivalGraceMs, countsFrom, type PermitUse } from "../rate-limiter/permit.ts";
import { SlidingWindowLog, widenedMs, type WindowUsage } from "../rate-limiter/sliding-window-log.ts";
import type { OwnPermits } from "./own-permits.ts";
import type { Outlook } from "./shared-count.ts";

interface FallbackState {
  readonly windows: readonly RateLimitWindow[];
  readonly own: OwnPermits;
  /** The permits that other processes used in each window at the last contact. */
  readonly others: readonly number[];
  /** The time since then; undefined if there were no other processes. */
  readonly seenMsAgo: number | undefined;
  readonly share: number;
  readonly now: number;
}

/**
 * The count of a process that continues alone while Redis is unavailable.
 *
 * It uses its share of the rest of each limit, because earlier requests of all processes still count at the service. Its
 * own permits leave the windows one by one; those of other processes all at once, when none of them can count any more.
 */
export class LocalFallback {
  readonly #log: SlidingWindowLog;
  readonly #state: FallbackState;
  /** The permits that the others may use in each window, and until when these count. */
  readonly #others: readonly number[];
  readonly #othersUntil: readonly number[];
  #acquired = 0;

  constructor(state: FallbackState) {
    this.#log = new SlidingWindowLog(state.windows);
    this.#state = state;
    const { windows, others, seenMsAgo, now } = state;
    const max = windows.map(
      ({ limit, intervalMs }) => limit * (Math.floor(Number(seenMsAgo) / intervalMs) + 1),
    );
    const acquiredSince = seenMsAgo === undefined ? 0 : Math.min(...max);
    this.#others = windows.map(({ limit }, index) => Math.min(limit, others[index]! + acquiredSince));
    // By then their requests have arrived, and each has found Redis unavailable, too (D48).
    this.#othersUntil = windows.map(({ intervalMs }) => now + widenedMs(intervalMs) + arrivalGraceMs);
  }

  /** Whether the share of some limit is less than one permit: then nothing can be sent alone. */
  get isTooSmall(): boolean {
    return this.#state.windows.some(({ limit }) => Math.floor(limit * this.#state.share) < 1);
  }

  /** The number of permits acquired without Redis. */
  get acquired(): number {
    return this.#acquired;
  }

  acquire(): void {
    this.#acquired += 1;
    this.#log.acquire();
  }

  release(use: PermitUse, now: number): void {
    if (use === "unsent") this.#log.unsent();
    else this.#log.responded(countsFrom(use, now));
  }

  available(now: number, rateFactor: number): number {
    this.#setLimits(this.#allowed(now), rateFactor);
    return this.#log.available(now);
  }

  nextAvailableInMs(now: number, rateFactor: number): number {
    return Math.max(...this.#availableInMs(now, rateFactor));
  }

  /** The shares of the other processes count as used. */
  usage(now: number, rateFactor: number): WindowUsage[] {
    const allowed = this.#allowed(now);
    const waits = this.#availableInMs(now, rateFactor);
    return this.#log.usage(now).map((window, index) => ({
      ...window,
      used: window.limit - allowed[index]! + window.used,
      freeInMs: Math.ceil(waits[index]!),
    }));
  }

  estimate(now: number, { roundTripMs, startsInMs, rateFactor }: Outlook): Estimate {
    // The limits at the start: at present they may be 0.
    this.#setLimits(this.#allowed(now + startsInMs), rateFactor);
    return this.#log.estimate(now, roundTripMs, now + startsInMs);
  }

  /** The permits that the other processes can have acquired meanwhile, each its share. */
  leftToOthers(now: number): number[] {
    return this.#left(now).map((left) => Math.ceil(left * (1 - this.#state.share)));
  }

  /** When each window has a permit available. */
  #availableInMs(now: number, rateFactor: number): number[] {
    const allowed = this.#allowed(now);
    this.#setLimits(allowed, rateFactor);
    const meanwhile = this.#log.usage(now);
    const { windows, share, own } = this.#state;
    const others = this.#othersIn(now);
    // The highest use at which the share of the rest is one permit.
    const max = windows.map(({ limit }) => Math.max(0, limit - Math.ceil(1 / share)));
    const besideOthers = this.#untilOwnAre(
      max.map((permits, index) => permits - others[index]!),
      now,
    );
    const withoutOthers = this.#untilOwnAre(max, now);
    const untilNextLeaves = this.#untilOwnAre(
      own.log.used(now).map((used) => used - 1),
      now,
    );
    return meanwhile.map(({ freeInMs }, index) => {
      const othersMs = others[index]! > 0 ? this.#othersUntil[index]! - now : Infinity;
      // The limit rises as soon as an earlier permit leaves.
      if (allowed[index]! > 0) return Math.min(freeInMs, untilNextLeaves[index]!, othersMs);
      if (othersMs === Infinity) return withoutOthers[index]!;
      return Math.min(besideOthers[index]!, Math.max(othersMs, withoutOthers[index]!));
    });
  }

  /** When this process uses at most so many permits of each window. */
  #untilOwnAre(max: readonly number[], now: number): number[] {
    const { log } = this.#state.own;
    log.limits = max.map((permits) => permits + 1);
    return log.usage(now).map(({ freeInMs }, index) => (max[index]! < 0 ? Infinity : freeInMs));
  }

  #setLimits(allowed: readonly number[], rateFactor: number): void {
    const windows = this.#state.windows.map((window, index) => ({ ...window, limit: allowed[index]! }));
    this.#log.limits = limitsInForce(windows, rateFactor).map((limit, index) =>
      Math.min(limit, allowed[index]!),
    );
  }

  /** This process's share of the rest of each limit. */
  #allowed(now: number): number[] {
    return this.#left(now).map((left) => Math.floor(left * this.#state.share));
  }

  /** The rest of each limit, after the requests of all processes before Redis was unavailable. */
  #left(now: number): number[] {
    const { windows, own } = this.#state;
    const others = this.#othersIn(now);
    const all = own.log.used(now);
    const meanwhile = this.#log.used(now);
    return windows.map(({ limit }, index) => {
      const before = all[index]! - meanwhile[index]!;
      return Math.max(0, limit - before - others[index]!);
    });
  }

  #othersIn(now: number): number[] {
    return this.#others.map((permits, index) => (this.#othersUntil[index]! > now ? permits : 0));
  }
}
