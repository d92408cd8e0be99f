import type { RateLimitWindow } from "../errors.ts";
import { limitsInForce } from "../rate-limiter/adaptive-rate.ts";
import type { Estimate } from "../rate-limiter/estimate.ts";
import { SlidingWindowLog, widenedMs, type WindowUsage } from "../rate-limiter/sliding-window-log.ts";
import type { OwnPermits } from "./own-permits.ts";
import { recoveryMs } from "./permit-scripts.ts";

/** How things stand for this process. */
export interface Outlook {
  readonly roundTripMs: number;
  /** Before that no call leaves. */
  readonly startsInMs: number;
  /** The part of the limits in force, after a 429 below 1. */
  readonly rateFactor: number;
}

/**
 * What this process knows of the shared count: its own permits to the millisecond, and of the others how many there were
 * when Redis last replied.
 *
 * When the others' come back only Redis knows. `usage` takes all to be there until the last must have left the window, an
 * estimate takes each to lie in the middle of what is left (D78). Neither decides whether a call may leave.
 */
export class SharedCount {
  readonly #windows: readonly RateLimitWindow[];
  readonly #own: OwnPermits;
  #others: readonly number[];
  #seenAt = -Infinity;
  /** While Redis recovers, it counts too little: there are at least so many others, or so many on top. */
  #recovery: { until: number; atLeast: readonly number[]; onTop: readonly number[] } | undefined;

  constructor(windows: readonly RateLimitWindow[], own: OwnPermits) {
    this.#windows = windows;
    this.#own = own;
    this.#others = windows.map(() => 0);
  }

  /** So many are used in each window; `granted` of them are this process's, and not held yet. */
  update(used: readonly number[], granted: number, now: number): void {
    const own = this.#own.log.used(now);
    this.#others = used.map((all, index) => Math.max(0, all - own[index]! - granted));
    this.#seenAt = now;
  }

  /** Redis has forgotten what was seen, and is told it again while it recovers. */
  outlastsMemory(now: number): void {
    const onTop = this.#recovery?.onTop ?? this.#windows.map(() => 0);
    this.#recovery = { until: now + recoveryMs, atLeast: this.others(now), onTop };
  }

  /** Redis was unavailable, and is told while it recovers what others acquired meanwhile: at most this. */
  leavesToOthers(onTop: readonly number[], now: number): void {
    this.#recovery = { until: now + recoveryMs, atLeast: this.#windows.map(() => 0), onTop };
  }

  isRecovering(now: number): boolean {
    return this.#recovery !== undefined && now < this.#recovery.until;
  }

  /** How many permits others use in each window, as was seen last. */
  others(now: number): readonly number[] {
    const recovery = this.#recovery;
    if (!recovery || now >= recovery.until) return this.#others;
    return this.#others.map((seen, index) =>
      Math.max(seen + recovery.onTop[index]!, recovery.atLeast[index]!),
    );
  }

  /** `waitMs`: for how long yet nobody here gets a permit, as Redis said; 0 where it may be asked. */
  usage(now: number, waitMs: number, rateFactor: number): WindowUsage[] {
    const { log } = this.#own;
    const heldMs = this.#windows.map(({ intervalMs }) => this.#seenAt + widenedMs(intervalMs) - now);
    const others = this.others(now).map((seen, index) => (heldMs[index]! > 0 ? seen : 0));
    // What the others have acquired is not left to this process.
    log.limits = limitsInForce(this.#windows, rateFactor).map((limit, index) => limit - others[index]!);
    const usage = log.usage(now).map((window, index) => {
      // One of the others' comes back before the last of them, and when Redis says.
      const soonestMs = others[index]! > 0 ? Math.min(heldMs[index]!, waitMs || Infinity) : Infinity;
      const used = Math.min(window.limit, window.used + others[index]!);
      return { ...window, used, freeInMs: Math.ceil(Math.min(window.freeInMs, soonestMs)) };
    });
    // Redis knows more than it says: whoever waits, waits for some window.
    if (waitMs === 0 || usage.some(({ freeInMs }) => freeInMs > 0)) return usage;
    const limiting = this.#windows.indexOf(this.limitingWindow(1, now));
    return usage.map((window, index) =>
      index === limiting ? { ...window, freeInMs: Math.ceil(waitMs) } : window,
    );
  }

  estimate(now: number, { roundTripMs, startsInMs, rateFactor }: Outlook): Estimate {
    const log = this.#logOfAll(now);
    log.limits = limitsInForce(this.#windows, rateFactor);
    return log.estimate(now, roundTripMs, now + startsInMs);
  }

  limitingWindow(position: number, now: number): RateLimitWindow {
    return this.#logOfAll(now).limitingWindow(position, now);
  }

  /** A count with as many others in each window as Redis saw: those of the shorter windows first. */
  #logOfAll(now: number): SlidingWindowLog {
    const others = this.others(now);
    const theirs: number[] = [];
    let shorterMs = 0;
    const shortestFirst = [...this.#windows.entries()].toSorted(
      ([, a], [, b]) => a.intervalMs - b.intervalMs,
    );
    for (const [index, { intervalMs }] of shortestFirst) {
      const middle = this.#seenAt - (shorterMs + intervalMs) / 2;
      while (theirs.length < others[index]!) theirs.push(middle);
      shorterMs = intervalMs;
    }
    const log = new SlidingWindowLog(this.#windows, [...this.#own.log.responses(now), ...theirs]);
    for (let held = 0; held < this.#own.log.inFlight; held += 1) log.acquire();
    return log;
  }
}
