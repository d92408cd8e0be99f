import type { RateLimitWindow } from "../errors.ts";
import { permitsPerPace, type SlidingWindowLog } from "./sliding-window-log.ts";

/** Calls of priority 9 are counted apart, and leave room for the others, of priorities 0 to 8. */
export const lastPriority = 9;

/** In so many steps the time ahead is looked at for the permits that come back in it. */
export const paceSteps = 24;
/** It goes no slower than at a tenth of the even pace, so that the last permits of a share do not wait for all that come back. */
export const longestPaces = 10;

/**
 * The permits of each window that priority 9 leaves to the others, those that they use included: a share of it, or what
 * they used within the last window and a tenth more. One permit always remains for priority 9.
 */
export function keptPermits(
  limits: readonly number[],
  usedByOthers: readonly number[],
  reserve: number,
): number[] {
  if (reserve === 0) return limits.map(() => 0);
  return limits.map((limit, index) => {
    // A product such as 0.07 · 100 is not exact.
    const share = Math.ceil(reserve * limit - 1e-9);
    const demand = Math.ceil((usedByOthers[index]! * 11) / 10);
    return Math.min(limit - 1, Math.max(share, demand));
  });
}

/** The permits that may be taken now, and the time until the next may: 0 if all may, else the window that is the last to have one. */
interface Taken<Held> {
  readonly permits: Held[];
  readonly waitMs: number;
  readonly window: RateLimitWindow | undefined;
}

/** What is left of a share at a time ahead, if priority 9 takes no more until then. */
interface Ahead {
  readonly inMs: number;
  readonly left: number;
}

/** What a class of calls may use: those of priority 9, or the others. */
export class Allowance {
  readonly #log: SlidingWindowLog;
  /** The most permits that may be in use, by all calls, for it to get one: for each window. */
  readonly #limits: readonly number[];
  /** What priority 9 may use of the longest window while the others call: the second half of it goes evenly. Else undefined. */
  readonly #share: number | undefined;
  /** For so long the answer of each window holds: a permit that leaves it changes what may be used, and at what pace (D275). */
  readonly #holdsForMs: readonly number[] | undefined;

  /** `limits` are those in force, one for each window; `reserve` is 0 for a class that leaves nothing. */
  constructor(log: SlidingWindowLog, limits: readonly number[], reserve: number, now: number) {
    this.#log = log;
    this.#limits = limits;
    if (reserve === 0) return;
    const usedByOthers = log.usedByOthers(now);
    const kept = keptPermits(limits, usedByOthers, reserve);
    this.#limits = limits.map((limit, index) => limit - Math.max(0, kept[index]! - usedByOthers[index]!));
    this.#holdsForMs = log.nextLeavesInMs(now);
    if (usedByOthers.at(-1)! > 0) this.#share = limits.at(-1)! - kept.at(-1)!;
  }

  /**
   * What is left of the share at times ahead. Once half of it is used the rest goes evenly, so that permits come back all the
   * time: at the highest pace that what is left and what comes back can bear. None while there is no pace.
   */
  #ahead(now: number): Ahead[] {
    const share = this.#share;
    const countedMs = this.#log.countedMs.at(-1)!;
    if (share === undefined || this.#log.usedBy(true, countedMs, now) < share / 2) return [];
    const stepMs = countedMs / paceSteps;
    // The same times for as long as a call waits, so that its turn stays the same.
    const before = Math.floor(now / stepMs);
    return Array.from({ length: paceSteps }, (_, step) => {
      const inMs = (before + 1 + step) * stepMs - now;
      return { inMs, left: Math.max(0, share - this.#log.usedBy(true, countedMs - inMs, now)) };
    });
  }

  /** The time until ten permits are as far apart as the pace asks: meanwhile the times ahead come nearer. */
  #paceWaitMs(now: number, ahead: readonly Ahead[]): number {
    const taken = this.#log.takenByLast;
    if (ahead.length === 0 || taken.length < permitsPerPace) return 0;
    const sinceMs = now - taken[0]!;
    let waitMs = 0;
    for (const { inMs, left } of ahead)
      waitMs = Math.max(waitMs, (permitsPerPace * inMs - left * sinceMs) / (permitsPerPace + left));
    const longestMs = (longestPaces * permitsPerPace * this.#log.countedMs.at(-1)!) / this.#share!;
    // A wait that is rounded to nothing would have no end.
    return Math.ceil(Math.min(longestMs - sinceMs, waitMs));
  }

  /** What `hold` makes for each of `calls` that may leave now. */
  takeAll<Held>(calls: number, now: number, hold: () => Held): Taken<Held> {
    const permits: Held[] = [];
    let ahead: Ahead[] = [];
    while (permits.length < calls) {
      // One pace for all that leave together. What is left to a class does not change with its own calls.
      if (ahead.length === 0) ahead = this.#ahead(now);
      const waits = this.#waits(now, ahead);
      const waitMs = Math.max(...waits);
      if (waitMs > 0) return { permits, waitMs, window: this.#log.windows[waits.indexOf(waitMs)] };
      permits.push(hold());
    }
    return { permits, waitMs: 0, window: undefined };
  }

  /** Of each window; what is in flight is responded to now at the soonest. */
  #waits(now: number, ahead: readonly Ahead[]): number[] {
    const waits = this.#log.availableInMs(now, this.#limits);
    const longest = waits.length - 1;
    waits[longest] = Math.max(waits[longest]!, this.#paceWaitMs(now, ahead));
    return waits.map((waitMs, index) => Math.min(waitMs, this.#holdsForMs?.[index] ?? Infinity));
  }
}
