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
  /** How many permits other processes used in each window at the last contact. */
  readonly others: readonly number[];
  /** How long ago that was; undefined where there were no other processes. */
  readonly seenMsAgo: number | undefined;
  readonly share: number;
  readonly now: number;
}

/**
 * The count of a process that goes on alone while Redis is unavailable.
 *
 * It uses its share of what is left of each limit, not of the limit: what all processes had sent before still counts at
 * the service. Its own permits leave the windows as they come; the others', all at once, when none of them can count any
 * more.
 */
export class LocalFallback {
  readonly #log: SlidingWindowLog;
  readonly #state: FallbackState;
  /** How many permits the others may use in each window, and until when these count. */
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
    // By then what they had sent has arrived, and each has found Redis unavailable, too (D48).
    this.#othersUntil = windows.map(({ intervalMs }) => now + widenedMs(intervalMs) + arrivalGraceMs);
  }

  /** Whether a share of some limit is no permit at all: then nothing can be sent alone. */
  get isTooSmall(): boolean {
    return this.#state.windows.some(({ limit }) => Math.floor(limit * this.#state.share) < 1);
  }

  /** How many permits were acquired without Redis. */
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

  /** What is left to the other processes counts as used. */
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
    // By what is allowed then: for now it may be nothing.
    this.#setLimits(this.#allowed(now + startsInMs), rateFactor);
    return this.#log.estimate(now, roundTripMs, now + startsInMs);
  }

  /** How many permits the other processes can have acquired meanwhile, each its share. */
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
    // So many may be used that the share of what is left is one permit.
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
      // More is allowed as soon as one of those from before leaves.
      if (allowed[index]! > 0) return Math.min(freeInMs, untilNextLeaves[index]!, othersMs);
      if (othersMs === Infinity) return withoutOthers[index]!;
      return Math.min(besideOthers[index]!, Math.max(othersMs, withoutOthers[index]!));
    });
  }

  /** When this process uses so many of each window, or less. */
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

  /** This process's share of what is left of each limit. */
  #allowed(now: number): number[] {
    return this.#left(now).map((left) => Math.floor(left * this.#state.share));
  }

  /** What was sent before Redis was unavailable, by this process and by others, is not left. */
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
