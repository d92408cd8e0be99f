import type { RateLimitWindow } from "../errors.ts";
import { limitsInForce } from "../rate-limiter/adaptive-rate.ts";
import type { Estimate } from "../rate-limiter/estimate.ts";
import { SlidingWindowLog, widenedMs, type WindowUsage } from "../rate-limiter/sliding-window-log.ts";
import type { OwnPermits } from "./own-permits.ts";
import { recoveryMs } from "./permit-scripts.ts";

/** The outlook of this process. */
export interface Outlook {
  readonly roundTripMs: number;
  /** No call is sent before. */
  readonly startsInMs: number;
  /** The part of the limits in force, after a 429 below 1. */
  readonly rateFactor: number;
}

/**
 * The shared count as this process knows it: its own permits to the millisecond, and the number of the others' at the last
 * reply of Redis.
 *
 * Only Redis knows the times of the others' permits. `usage` counts all of them until the last must have left the window,
 * an estimate puts each in the middle of the rest (D78). Neither decides whether a call may be sent.
 */
export class SharedCount {
  readonly #windows: readonly RateLimitWindow[];
  readonly #own: OwnPermits;
  #others: readonly number[];
  #seenAt = -Infinity;
  /** While Redis recovers, its count is too low: the others have at least so many, or so many more. */
  #recovery: { until: number; atLeast: readonly number[]; onTop: readonly number[] } | undefined;

  constructor(windows: readonly RateLimitWindow[], own: OwnPermits) {
    this.#windows = windows;
    this.#own = own;
    this.#others = windows.map(() => 0);
  }

  /** The permits used in each window; `granted` of them are this process's, and not held yet. */
  update(used: readonly number[], granted: number, now: number): void {
    const own = this.#own.log.used(now);
    this.#others = used.map((all, index) => Math.max(0, all - own[index]! - granted));
    this.#seenAt = now;
  }

  /** Redis has lost its data, and gets it again while it recovers. */
  outlastsMemory(now: number): void {
    const onTop = this.#recovery?.onTop ?? this.#windows.map(() => 0);
    this.#recovery = { until: now + recoveryMs, atLeast: this.others(now), onTop };
  }

  /** Redis was unavailable; while it recovers, others report at most these additional permits. */
  leavesToOthers(onTop: readonly number[], now: number): void {
    this.#recovery = { until: now + recoveryMs, atLeast: this.#windows.map(() => 0), onTop };
  }

  isRecovering(now: number): boolean {
    return this.#recovery !== undefined && now < this.#recovery.until;
  }

  /** The permits that others use in each window, as last known. */
  others(now: number): readonly number[] {
    const recovery = this.#recovery;
    if (!recovery || now >= recovery.until) return this.#others;
    return this.#others.map((seen, index) =>
      Math.max(seen + recovery.onTop[index]!, recovery.atLeast[index]!),
    );
  }

  /** `waitMs`: the wait that Redis named for the next request; 0 if there is none. */
  usage(now: number, waitMs: number, rateFactor: number): WindowUsage[] {
    const { log } = this.#own;
    const heldMs = this.#windows.map(({ intervalMs }) => this.#seenAt + widenedMs(intervalMs) - now);
    const others = this.others(now).map((seen, index) => (heldMs[index]! > 0 ? seen : 0));
    // The others' permits reduce the limit of this process.
    log.limits = limitsInForce(this.#windows, rateFactor).map((limit, index) => limit - others[index]!);
    const usage = log.usage(now).map((window, index) => {
      // One of the others' permits returns before the last of them, and when Redis says.
      const soonestMs = others[index]! > 0 ? Math.min(heldMs[index]!, waitMs || Infinity) : Infinity;
      const used = Math.min(window.limit, window.used + others[index]!);
      return { ...window, used, freeInMs: Math.ceil(Math.min(window.freeInMs, soonestMs)) };
    });
    // During a wait, at least one window must show it.
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

  /** A log with the others' permits of each window: those of the shorter windows first. */
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
