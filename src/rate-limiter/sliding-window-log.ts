import type { RateLimitWindow } from "../errors.ts";
import { Estimate } from "./estimate.ts";

/**
 * One window as it stands: how much of it is used, and when a permit of it is available.
 *
 * With a `store` it holds the calls of this process, and those of the others as the store last reported them, until they
 * must have left the window. While the store is unavailable, the permits that are left to the others count as used.
 */
export interface WindowUsage {
  /** How many calls the service allows in it. */
  readonly limit: number;
  /** Its length, in milliseconds. */
  readonly intervalMs: number;
  /** Permits used, those in flight among them. */
  readonly used: number;
  /** Milliseconds until a permit is available; 0 where one is; what is in flight counts as responded to now. */
  readonly freeInMs: number;
}

/**
 * How long a window is counted here, so that it is never shorter than the service's own count of it: a clock that is
 * slewed runs up to 0.05 % fast, and timers and timestamps are rounded.
 */
export function widenedMs(intervalMs: number): number {
  return intervalMs * 1.0005 + 5;
}

interface CountedWindow {
  readonly window: RateLimitWindow;
  readonly countedMs: number;
}

/**
 * The count: how many permits are used in each window, and when the next is available. No timers; the time comes in.
 *
 * A permit in flight counts, and comes back one window after its *response*: the service counted the request somewhere
 * between sending and response, so no latency can put more requests into its window than into ours ("Limits").
 */
export class SlidingWindowLog {
  readonly #windows: CountedWindow[];
  readonly #longestMs: number;
  /** The limits in force, one for each window: its own, or less after a 429. */
  limits: readonly number[];
  /** Times of responses, sorted; the oldest may have left every window. */
  readonly #responses: number[];
  #inFlight = 0;

  constructor(windows: readonly RateLimitWindow[], responses: readonly number[] = []) {
    this.#windows = windows.map((window) => ({ window, countedMs: widenedMs(window.intervalMs) }));
    this.#longestMs = Math.max(...windows.map(({ intervalMs }) => widenedMs(intervalMs)));
    this.limits = windows.map(({ limit }) => limit);
    this.#responses = responses.toSorted((a, b) => a - b);
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** How many permits are available in every window. */
  available(now: number): number {
    this.forget(now);
    const left = this.#windows.map(
      ({ countedMs }, index) => this.limits[index]! - this.#usedIn(countedMs, now),
    );
    return Math.max(0, Math.min(...left));
  }

  acquire(): void {
    this.#inFlight += 1;
  }

  /** The permit comes back one window after `at`, which may lie ahead. */
  responded(at: number): void {
    this.#inFlight -= 1;
    this.#responses.splice(this.#after(at), 0, at);
  }

  /** The request never left: the permit is back at once. */
  unsent(): void {
    this.#inFlight -= 1;
  }

  /** The soonest that a permit can be available in every window, in milliseconds. */
  nextAvailableInMs(now: number): number {
    return Math.max(...this.#windows.map((_, index) => this.#availableInMs(index, 1, now)));
  }

  /** The window that is the last to have so many permits available. */
  limitingWindow(permits: number, now: number): RateLimitWindow {
    const waits = this.#windows.map((_, index) => this.#availableInMs(index, permits, now));
    return this.#windows[waits.indexOf(Math.max(...waits))]!.window; // one of the waits is the longest
  }

  /** How many permits are used in each window. */
  used(now: number): number[] {
    return this.#windows.map((window) => this.#usedIn(window.countedMs, now));
  }

  usage(now: number): WindowUsage[] {
    return this.#windows.map(({ window, countedMs }, index) => ({
      limit: window.limit,
      intervalMs: window.intervalMs,
      used: this.#usedIn(countedMs, now),
      freeInMs: Math.ceil(this.#availableInMs(index, 1, now)),
    }));
  }

  /** The responses that still count in some window, oldest first. */
  responses(now: number): number[] {
    return this.#responses.slice(this.#after(now - this.#longestMs));
  }

  /** When the coming calls leave, from `startAt` on, if each is responded to after `roundTripMs`. */
  estimate(now: number, roundTripMs: number, startAt: number): Estimate {
    const inFlight = Array<number>(this.#inFlight).fill(now + roundTripMs / 2);
    const windows = this.#windows.map(({ countedMs }, index) => ({ countedMs, limit: this.limits[index]! }));
    return new Estimate({ responses: [...this.responses(now), ...inFlight], windows, roundTripMs, startAt });
  }

  #usedIn(countedMs: number, now: number): number {
    return this.#responses.length - this.#after(now - countedMs) + this.#inFlight;
  }

  /** When one window has so many permits available; what is in flight is responded to now at the soonest. */
  #availableInMs(index: number, permits: number, now: number): number {
    const { countedMs } = this.#windows[index]!;
    const mustLeave = this.#usedIn(countedMs, now) + permits - this.limits[index]!;
    if (mustLeave <= 0) return 0;
    const last = this.#after(now - countedMs) + mustLeave - 1;
    const respondedAt = this.#responses[last] ?? Math.max(now, this.#responses.at(-1) ?? now);
    return Math.max(0, respondedAt + countedMs - now);
  }

  /** The index of the first response after `time`: in a sorted list it is found by halving. */
  #after(time: number): number {
    let [low, high] = [0, this.#responses.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#responses[middle]! > time) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** Forgets what has left every window: by halves, so that each response is moved once at most. */
  forget(now: number): void {
    const left = this.#after(now - this.#longestMs);
    if (left * 2 > this.#responses.length) this.#responses.splice(0, left);
  }
}
