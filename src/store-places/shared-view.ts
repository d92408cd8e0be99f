import type { RateLimitWindow } from "../errors.ts";
import type { Forecast } from "../rate-limiter/forecast.ts";
import type { WindowUsage } from "../rate-limiter/places.ts";
import { Windows } from "../rate-limiter/windows.ts";

/** What a forecast builds on. */
export interface Outlook {
  readonly roundTripMs: number;
  /** Before that no call leaves. */
  readonly startsInMs: number;
  /** The part of the limits in force, after a 429 below 1. */
  readonly share: number;
}

/**
 * What one process knows of the shared count: how many places were taken in each window when the store last answered.
 *
 * When exactly they come back only the store knows, so each is taken to lie in the middle of what is left: good enough
 * to say how long something takes, and never used to decide whether a call may leave.
 */
export class SharedView {
  readonly #windows: readonly RateLimitWindow[];
  #used: readonly number[];
  #seenAt = -Infinity;

  constructor(windows: readonly RateLimitWindow[]) {
    this.#windows = windows;
    this.#used = windows.map(() => 0);
  }

  get lastSeen(): readonly number[] {
    return this.#used;
  }

  see(used: readonly number[], now: number): void {
    this.#used = used;
    this.#seenAt = now;
  }

  forecast(now: number, { roundTripMs, startsInMs, share }: Outlook): Forecast {
    const windows = this.#rebuilt();
    windows.shrink(share);
    return windows.forecast(now, roundTripMs, startsInMs);
  }

  usage(now: number): WindowUsage[] {
    return this.#rebuilt().usage(now);
  }

  fullest(place: number, now: number): RateLimitWindow {
    return this.#rebuilt().fullest(place, now);
  }

  /** A count with as many answers in each window as the store saw: those of the shorter windows first. */
  #rebuilt(): Windows {
    const answeredAt: number[] = [];
    let shorterMs = 0;
    for (const { window, used } of this.#shortestFirst()) {
      const middle = this.#seenAt - (shorterMs + window.intervalMs) / 2;
      while (answeredAt.length < used) answeredAt.push(middle);
      shorterMs = window.intervalMs;
    }
    return new Windows(this.#windows, answeredAt);
  }

  #shortestFirst(): { window: RateLimitWindow; used: number }[] {
    return this.#windows
      .map((window, index) => ({ window, used: this.#used[index]! }))
      .toSorted((a, b) => a.window.intervalMs - b.window.intervalMs);
  }
}
