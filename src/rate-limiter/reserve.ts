import type { RateLimitWindow } from "../errors.ts";
import { permitsPerPace, type SlidingWindowLog } from "./sliding-window-log.ts";

/** Calls of priority 9 are counted apart, and leave room for the others, of priorities 0 to 8. */
export const lastPriority = 9;

/** The pace is found by the permits that come back in each of so many steps of the time ahead. */
export const paceSteps = 24;
/** The slowest pace is a tenth of the even one: a share's last permits do not wait for all that come back. */
export const longestPaces = 10;

/**
 * The permits of a window that priority 9 leaves to the others, those that they use included: a share of it, or what
 * they used within the last window and a tenth more. One permit always remains for priority 9.
 */
export function keptPermits(limit: number, usedByOthers: number, reserve: number): number {
  if (reserve === 0) return 0;
  // A product such as 0.07 · 100 is not exact.
  const share = Math.ceil(reserve * limit - 1e-9);
  const demand = Math.ceil((usedByOthers * 11) / 10);
  return Math.min(limit - 1, Math.max(share, demand));
}

/** The permits that may be taken now; if not all, the wait for the next, and the window that has one last. */
interface Taken<Permit> {
  readonly permits: Permit[];
  readonly waitMs: number;
  readonly limitingWindow: RateLimitWindow | undefined;
}

/** A time ahead, and what is left of the share then, if priority 9 takes no more until then. */
interface PaceStep {
  readonly inMs: number;
  readonly shareLeft: number;
}

/** What a class of calls may use: those of priority 9, or the others. */
export class Allowance {
  readonly #log: SlidingWindowLog;
  /** The most permits that may be in use, by all calls, for it to get one: for each window. */
  readonly #limits: readonly number[];
  /** What priority 9 may use of the longest window while the others call: the second half of it goes evenly. Else undefined. */
  readonly #share: number | undefined;
  /** The wait of each window holds for so long: a permit that leaves changes the limits and the pace (D275). */
  readonly #nextLeavesInMs: readonly number[] | undefined;

  /** `limits` are those in force, one for each window; `reserve` is 0 for a class that leaves nothing. */
  constructor(log: SlidingWindowLog, limits: readonly number[], reserve: number, now: number) {
    this.#log = log;
    this.#limits = limits;
    if (reserve === 0) return;
    const usedByOthers = log.usedByOthers(now);
    const kept = limits.map((limit, index) => keptPermits(limit, usedByOthers[index]!, reserve));
    this.#limits = limits.map((limit, index) => limit - Math.max(0, kept[index]! - usedByOthers[index]!));
    this.#nextLeavesInMs = log.nextLeavesInMs(now);
    if (usedByOthers.at(-1)! > 0) this.#share = limits.at(-1)! - kept.at(-1)!;
  }

  /**
   * What is left of the share at times ahead. Once half of it is used the rest goes evenly, so that permits come back all the
   * time: at the highest pace that what is left and what comes back can bear. None while there is no pace.
   */
  #stepsAhead(now: number): PaceStep[] {
    const share = this.#share;
    const countedMs = this.#log.countedMs.at(-1)!;
    if (share === undefined || this.#log.usedBy(true, countedMs, now) < share / 2) return [];
    const stepMs = countedMs / paceSteps;
    // The same times for as long as a call waits, so that its turn stays the same.
    const stepsBefore = Math.floor(now / stepMs);
    return Array.from({ length: paceSteps }, (_, step) => {
      const inMs = (stepsBefore + 1 + step) * stepMs - now;
      return { inMs, shareLeft: Math.max(0, share - this.#log.usedBy(true, countedMs - inMs, now)) };
    });
  }

  /** The time until ten permits are as far apart as the pace asks: meanwhile the times ahead come nearer. */
  #paceWaitMs(now: number, steps: readonly PaceStep[]): number {
    const taken = this.#log.takenByLast;
    if (steps.length === 0 || taken.length < permitsPerPace) return 0;
    const sinceMs = now - taken[0]!;
    let waitMs = 0;
    for (const { inMs, shareLeft } of steps)
      waitMs = Math.max(waitMs, (permitsPerPace * inMs - shareLeft * sinceMs) / (permitsPerPace + shareLeft));
    const longestPaceMs = (longestPaces * permitsPerPace * this.#log.countedMs.at(-1)!) / this.#share!;
    // A wait that is rounded to nothing would have no end.
    return Math.ceil(Math.min(longestPaceMs - sinceMs, waitMs));
  }

  /** Takes a permit by `hold` for each of `calls` that may leave now. */
  takeAll<Permit>(calls: number, now: number, hold: () => Permit): Taken<Permit> {
    const permits: Permit[] = [];
    let steps: PaceStep[] = [];
    while (permits.length < calls) {
      // One pace for all that leave together. What is left to a class does not change with its own calls.
      if (steps.length === 0) steps = this.#stepsAhead(now);
      const waits = this.#waits(now, steps);
      const waitMs = Math.max(...waits);
      if (waitMs > 0) return { permits, waitMs, limitingWindow: this.#log.windows[waits.indexOf(waitMs)] };
      permits.push(hold());
    }
    return { permits, waitMs: 0, limitingWindow: undefined };
  }

  /** The wait for each window; what is in flight is responded to now at the soonest. */
  #waits(now: number, steps: readonly PaceStep[]): number[] {
    const waits = this.#log.availableInMs(now, this.#limits);
    const longest = waits.length - 1;
    waits[longest] = Math.max(waits[longest]!, this.#paceWaitMs(now, steps));
    return waits.map((waitMs, index) => Math.min(waitMs, this.#nextLeavesInMs?.[index] ?? Infinity));
  }
}
