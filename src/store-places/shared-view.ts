import type { RateLimitWindow } from "../errors.ts";
import { limitsInForce } from "../rate-limiter/adaptive-rate.ts";
import type { Estimate } from "../rate-limiter/estimate.ts";
import { widenedMs, SlidingWindowLog } from "../rate-limiter/sliding-window-log.ts";
import { settleInMs } from "./place-store.ts";

/** What a forecast builds on. */
export interface Outlook {
  readonly roundTripMs: number;
  /** Before that no call leaves. */
  readonly startsInMs: number;
  /** The part of the limits in force, after a 429 below 1. */
  readonly share: number;
}

interface Unsettled {
  readonly until: number;
  readonly atLeast: readonly number[];
  readonly onTop: readonly number[];
}

/**
 * What one process knows of the shared count: how many places were taken in each window when the store last answered.
 *
 * When exactly they come back only the store knows. A forecast takes each to lie in the middle of what is left: good
 * enough to say how long something takes, and never used to decide whether a call may leave.
 */
export class SharedView {
  readonly #windows: readonly RateLimitWindow[];
  readonly #none: readonly number[];
  #used: readonly number[];
  #seenAt = -Infinity;
  /** Until the store has settled in, it counts too little: at least this much is used, or this much on top. */
  #unsettled: Unsettled | undefined;

  constructor(windows: readonly RateLimitWindow[]) {
    this.#windows = windows;
    this.#none = windows.map(() => 0);
    this.#used = this.#none;
  }

  see(used: readonly number[], now: number): void {
    this.#used = used;
    this.#seenAt = now;
  }

  /** The store has forgotten what was seen, and hears of it again while it settles in. */
  outlastsMemory(now: number): void {
    const onTop = this.#unsettled?.onTop ?? this.#none;
    this.#unsettled = { until: now + settleInMs, atLeast: this.usedByAll(now), onTop };
  }

  /** The store was away, and hears while it settles in of what others took meanwhile: at most this. */
  leavesToOthers(onTop: readonly number[], now: number): void {
    this.#unsettled = { until: now + settleInMs, atLeast: this.#none, onTop };
  }

  /** How many places are taken in each window, as was seen last. */
  usedByAll(now: number): readonly number[] {
    const unsettled = this.#unsettled;
    if (!unsettled || now >= unsettled.until) return this.#used;
    return this.#used.map((places, index) =>
      Math.max(places + unsettled.onTop[index]!, unsettled.atLeast[index]!),
    );
  }

  /** For how long yet each window can hold what was seen in it, if all of it had just been answered. */
  heldMs(now: number): number[] {
    return this.#windows.map(({ intervalMs }) => Math.max(0, this.#seenAt + widenedMs(intervalMs) - now));
  }

  forecast(now: number, { roundTripMs, startsInMs, share }: Outlook): Estimate {
    const windows = this.#rebuilt();
    windows.limits = limitsInForce(this.#windows, share);
    return windows.estimate(now, roundTripMs, now + startsInMs);
  }

  limitingWindow(position: number, now: number): RateLimitWindow {
    return this.#rebuilt().limitingWindow(position, now);
  }

  /** A count with as many answers in each window as the store saw: those of the shorter windows first. */
  #rebuilt(): SlidingWindowLog {
    const answeredAt: number[] = [];
    let shorterMs = 0;
    for (const { window, used } of this.#shortestFirst()) {
      const middle = this.#seenAt - (shorterMs + window.intervalMs) / 2;
      while (answeredAt.length < used) answeredAt.push(middle);
      shorterMs = window.intervalMs;
    }
    return new SlidingWindowLog(this.#windows, answeredAt);
  }

  #shortestFirst(): { window: RateLimitWindow; used: number }[] {
    return this.#windows
      .map((window, index) => ({ window, used: this.#used[index]! }))
      .toSorted((a, b) => a.window.intervalMs - b.window.intervalMs);
  }
}
