import type { RateLimitWindow } from "../errors.ts";
import type { AdaptiveRate } from "../rate-limiter/adaptive-rate.ts";
import type { Estimate } from "../rate-limiter/estimate.ts";
import {
  arrivalGraceMs,
  SlidingWindowLog,
  widenedMs,
  type WindowUsage,
} from "../rate-limiter/sliding-window-log.ts";
import type { OwnPermits } from "./own-permits.ts";

interface FallbackState {
  readonly windows: readonly RateLimitWindow[];
  readonly rate: AdaptiveRate;
  /** All permits of this process, those that it acquires without Redis among them. */
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
  /** The permits acquired without Redis, as long as they count, and their number since the beginning. */
  readonly log: SlidingWindowLog;
  acquired = 0;
  readonly #state: FallbackState;
  /** The permits that the others may use in each window, and until when these count. */
  readonly #others: readonly number[];
  readonly #othersUntil: readonly number[];

  constructor(state: FallbackState) {
    const { windows, others, seenMsAgo, now } = state;
    this.log = new SlidingWindowLog(windows);
    this.#state = state;
    const most = windows.map(
      ({ limit, intervalMs }) => limit * (Math.floor(Number(seenMsAgo) / intervalMs) + 1),
    );
    const acquiredSince = seenMsAgo === undefined ? 0 : Math.min(...most);
    this.#others = windows.map(({ limit }, index) => Math.min(limit, others[index]! + acquiredSince));
    // By then their requests have arrived, and each has found Redis unavailable, too (D48).
    this.#othersUntil = windows.map(({ intervalMs }) => now + widenedMs(intervalMs) + arrivalGraceMs);
  }

  /** The id of a permit, if one is available; it is reported to Redis later. */
  acquire(now: number): string | undefined {
    if (this.available(now) === 0) return undefined;
    this.acquired += 1;
    this.log.inFlight += 1;
    const id = this.#state.own.newId();
    this.#state.own.hold(id);
    return id;
  }

  available(now: number): number {
    return this.log.available(now, this.#limits(now));
  }

  nextAvailableInMs(now: number): number {
    return Math.max(...this.#availableInMs(now));
  }

  /** The shares of the other processes count as used. */
  usage(now: number): WindowUsage[] {
    const allowed = this.#allowed(now);
    const waits = this.#availableInMs(now);
    return this.log.usage(now, allowed).map((window, index) => ({
      ...window,
      used: window.limit - allowed[index]! + window.used,
      freeInMs: Math.ceil(waits[index]!),
    }));
  }

  /** With the limits at the start: at present they may be 0. */
  estimate(now: number, roundTripMs: number, startAt: number): Estimate {
    return this.log.estimate(now, this.#limits(startAt), roundTripMs, startAt);
  }

  /** The permits that the other processes can have acquired meanwhile, each its share. */
  leftToOthers(now: number): number[] {
    return this.#left(now).map((left) => Math.ceil(left * (1 - this.#state.share)));
  }

  /** When each window has a permit available. */
  #availableInMs(now: number): number[] {
    const { windows, share } = this.#state;
    const own = this.#state.own.log;
    const others = this.#othersIn(now);
    const allowed = this.#allowed(now);
    const meanwhile = this.log.availableInMs(now, this.#limits(now));
    const untilNextLeaves = own.availableInMs(now, own.used(now));
    // The use at which the share of the rest is one permit, with the permits of the others and without them.
    const most = windows.map(({ limit }) => Math.max(0, limit - Math.ceil(1 / share)));
    const withoutOthers = own.availableInMs(
      now,
      most.map((permits) => permits + 1),
    );
    const besideOthers = own.availableInMs(
      now,
      most.map((permits, index) => permits - others[index]! + 1),
    );
    return windows.map((_, index) => {
      const othersMs = others[index]! > 0 ? this.#othersUntil[index]! - now : Infinity;
      // The limit rises as soon as an earlier permit leaves.
      if (allowed[index]! > 0) return Math.min(meanwhile[index]!, untilNextLeaves[index]!, othersMs);
      if (othersMs === Infinity) return withoutOthers[index]!;
      const afterOthers = Math.max(othersMs, withoutOthers[index]!);
      return others[index]! > most[index]! ? afterOthers : Math.min(besideOthers[index]!, afterOthers);
    });
  }

  /** The limits of this process: its share, or less after a 429. */
  #limits(now: number): number[] {
    const allowed = this.#allowed(now);
    const windows = this.#state.windows.map((window, index) => ({ ...window, limit: allowed[index]! }));
    return this.#state.rate.limitsOf(windows).map((limit, index) => Math.min(limit, allowed[index]!));
  }

  /** This process's share of the rest of each limit. */
  #allowed(now: number): number[] {
    return this.#left(now).map((left) => Math.floor(left * this.#state.share));
  }

  /** The rest of each limit, after the requests of all processes before Redis was unavailable. */
  #left(now: number): number[] {
    const others = this.#othersIn(now);
    const all = this.#state.own.log.used(now);
    const meanwhile = this.log.used(now);
    return this.#state.windows.map(({ limit }, index) => {
      const before = all[index]! - meanwhile[index]!;
      return Math.max(0, limit - before - others[index]!);
    });
  }

  #othersIn(now: number): number[] {
    return this.#others.map((permits, index) => (this.#othersUntil[index]! > now ? permits : 0));
  }
}
