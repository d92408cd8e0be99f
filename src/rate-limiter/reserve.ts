import type { RateLimitWindow } from "../errors.ts";
import { permitsPerPace, type SlidingWindowLog } from "./sliding-window-log.ts";

/** Calls of priority 9 are counted apart, and leave room for the others, of priorities 0 to 8. */
export const lastPriority = 9;

/** In so many steps the time ahead is looked at for the permits that come back in it. */
export const paceSteps = 24;
/** It goes no slower than at a tenth of the even pace, so that a wait is never much longer than it proves to be. */
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

/** What a class of calls may use: those of priority 9, or the others. */
export class Allowance {
  readonly #log: SlidingWindowLog;
  /** The most permits that may be in use, by all calls, for it to get one: for each window. */
  readonly #limits: readonly number[];
  /** What priority 9 may use of the longest window while the others call: the second half of it goes evenly. Else undefined. */
  readonly #share: number | undefined;

  /** `limits` are those in force, one for each window; `reserve` is 0 for a class that leaves nothing. */
  constructor(log: SlidingWindowLog, limits: readonly number[], reserve: number, now: number) {
    this.#log = log;
    this.#limits = limits;
    if (reserve === 0) return;
    const usedByOthers = log.usedByOthers(now);
    const kept = keptPermits(limits, usedByOthers, reserve);
    this.#limits = limits.map((limit, index) => limit - Math.max(0, kept[index]! - usedByOthers[index]!));
    if (usedByOthers.at(-1)! > 0) this.#share = limits.at(-1)! - kept.at(-1)!;
  }

  /**
   * Ten permits are given in this time, 0 for no pace. Once half of the share is used, the rest goes evenly, so that permits come
   * back all the time: at the highest pace that what is left and what comes back can bear.
   */
  #paceMs(now: number): number {
    const share = this.#share;
    const countedMs = this.#log.countedMs.at(-1)!;
    if (share === undefined || this.#log.usedBy(true, countedMs, now) < share / 2) return 0;
    let paceMs = 0;
    for (let step = 1; step <= paceSteps; step += 1) {
      const aheadMs = (step * countedMs) / paceSteps;
      const left = Math.max(0, share - this.#log.usedBy(true, countedMs - aheadMs, now));
      paceMs = Math.max(paceMs, (permitsPerPace * aheadMs) / left);
    }
    return Math.min(paceMs, (longestPaces * permitsPerPace * countedMs) / share);
  }

  /** What `hold` makes for each of `calls` that may leave now. */
  takeAll<Held>(calls: number, now: number, hold: () => Held): Taken<Held> {
    const permits: Held[] = [];
    let paceMs = 0;
    while (permits.length < calls) {
      // One pace for all that leave together. What is left to a class does not change with its own calls.
      paceMs ||= this.#paceMs(now);
      const waits = this.#waits(now, paceMs);
      const waitMs = Math.max(...waits);
      if (waitMs > 0) return { permits, waitMs, window: this.#log.windows[waits.indexOf(waitMs)] };
      permits.push(hold());
    }
    return { permits, waitMs: 0, window: undefined };
  }

  /** Of each window; what is in flight is responded to now at the soonest. */
  #waits(now: number, paceMs: number): number[] {
    const waits = this.#log.availableInMs(now, this.#limits);
    const taken = this.#log.takenByLast;
    const longest = waits.length - 1;
    if (paceMs > 0 && taken.length === permitsPerPace)
      waits[longest] = Math.max(waits[longest]!, taken[0]! + paceMs - now);
    return waits;
  }
}
