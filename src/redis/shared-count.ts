import type { RateLimitWindow } from "../errors.ts";
import type { Estimate } from "../rate-limiter/estimate.ts";
import { SlidingWindowLog, widenedMs, type WindowUsage } from "../rate-limiter/sliding-window-log.ts";
import { recoveryMs, type ScriptReply } from "./script-calls.ts";

/**
 * The shared count as this process knows it: its own permits to the millisecond, and the number of the others' at the last
 * reply of Redis.
 *
 * Only Redis knows the times of the others' permits. `usage` counts all of them until the last must have left the window,
 * an estimate puts each in the middle of the rest (D78). Neither decides whether a call may be sent.
 */
export class SharedCount {
  /** The time of the last reply of Redis. */
  seenAt = -Infinity;
  /** The number of other live processes. */
  otherProcesses = 0;
  readonly #windows: readonly RateLimitWindow[];
  readonly #own: SlidingWindowLog;
  #others: readonly number[];
  /** While Redis recovers, its count is too low: the others have at least so many permits. */
  #recovery: { until: number; atLeast: readonly number[] };

  constructor(windows: readonly RateLimitWindow[], own: SlidingWindowLog) {
    this.#windows = windows;
    this.#own = own;
    this.#others = windows.map(() => 0);
    this.#recovery = { until: -Infinity, atLeast: this.#others };
  }

  update({ used, others }: ScriptReply, now: number): void {
    const own = this.#own.used(now);
    this.#others = used.map((all, index) => Math.max(0, all - own[index]!));
    // A Redis that lost its data does not know the other processes yet.
    this.otherProcesses = now < this.#recovery.until ? Math.max(this.otherProcesses, others) : others;
    this.seenAt = now;
  }

  /** Redis gets lost permits again: the others have those that are known, and may report so many additional ones. */
  recover(now: number, additional: readonly number[] = []): void {
    const atLeast = this.others(now).map((known, index) => known + (additional[index] ?? 0));
    this.#recovery = { until: now + recoveryMs, atLeast };
  }

  /** The permits that others use in each window, as last known. */
  others(now: number): readonly number[] {
    const { until, atLeast } = this.#recovery;
    return now < until ? this.#others.map((seen, index) => Math.max(seen, atLeast[index]!)) : this.#others;
  }

  /** `waitMs`: the wait that Redis named for the next request; 0 if there is none. */
  usage(now: number, limits: readonly number[], waitMs: number): WindowUsage[] {
    const heldMs = this.#windows.map(({ intervalMs }) => this.seenAt + widenedMs(intervalMs) - now);
    const others = this.others(now).map((seen, index) => (heldMs[index]! > 0 ? seen : 0));
    // The others' permits reduce the limit of this process.
    const ownLimits = limits.map((limit, index) => limit - others[index]!);
    const usage = this.#own.usage(now, ownLimits).map((window, index) => {
      // One of the others' permits returns before the last of them, and when Redis says.
      const soonestMs = others[index]! > 0 ? Math.min(heldMs[index]!, waitMs || Infinity) : Infinity;
      const used = Math.min(window.limit, window.used + others[index]!);
      return { ...window, used, freeInMs: Math.ceil(Math.min(window.freeInMs, soonestMs)) };
    });
    // During a wait, at least one window must show it.
    if (waitMs === 0 || usage.some(({ freeInMs }) => freeInMs > 0)) return usage;
    const limiting = this.#windows.indexOf(this.limitingWindow(1, now, limits));
    return usage.map((window, index) =>
      index === limiting ? { ...window, freeInMs: Math.ceil(waitMs) } : window,
    );
  }

  estimate(now: number, limits: readonly number[], roundTripMs: number, startAt: number): Estimate {
    return this.#logOfAll(now).estimate(now, limits, roundTripMs, startAt);
  }

  limitingWindow(position: number, now: number, limits: readonly number[]): RateLimitWindow {
    return this.#logOfAll(now).limitingWindow(position, now, limits);
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
      const middle = this.seenAt - (shorterMs + intervalMs) / 2;
      while (theirs.length < others[index]!) theirs.push(middle);
      shorterMs = intervalMs;
    }
    const log = new SlidingWindowLog(this.#windows, [...this.#own.responses(now), ...theirs]);
    log.inFlight = this.#own.inFlight;
    return log;
  }
}
