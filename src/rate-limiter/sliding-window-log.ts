import type { RateLimitWindow } from "../errors.ts";
import { Estimate } from "./estimate.ts";

/** How a permit was used. */
export type PermitUse =
  /** The response's headers are here: the permit comes back one window after now. */
  | "responded"
  /** Timed out, reset or cut: the permit comes back one window after the request can last have arrived. */
  | "lost"
  /** The request never left this machine: the permit is back at once. */
  | "unsent";

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

/** A request that was under way when its connection broke may still arrive, as long as packets live in a slow network. */
export const arrivalGraceMs = 5_000;

/**
 * How long a window is counted here, so that it is never shorter than the service's own count of it: a clock that is
 * slewed runs up to 0.05 % fast, and timers and timestamps are rounded.
 */
export function widenedMs(intervalMs: number): number {
  return intervalMs * 1.0005 + 5;
}

/**
 * The count: how many permits are used in each window, and when the next is available. No timers; the time comes in, and
 * so do the limits in force, one for each window.
 *
 * A permit in flight counts, and comes back one window after its *response*: the service counted the request somewhere
 * between sending and response, so no latency can put more requests into its window than into ours ("Limits").
 */
export class SlidingWindowLog {
  /** The permits in flight. */
  inFlight = 0;
  /** How long a permit counts in the longest window. */
  readonly longestMs: number;
  readonly #windows: readonly RateLimitWindow[];
  /** How long a permit counts in each window. */
  readonly #countedMs: readonly number[];
  /** Times of responses, sorted; the oldest may have left every window. */
  readonly #responses: number[];

  constructor(windows: readonly RateLimitWindow[], responses: readonly number[] = []) {
    this.#windows = windows;
    this.#countedMs = windows.map(({ intervalMs }) => widenedMs(intervalMs));
    this.longestMs = Math.max(...this.#countedMs);
    this.#responses = responses.toSorted((a, b) => a - b);
  }

  /** How many permits are available in every window. */
  available(now: number, limits: readonly number[]): number {
    let available = Infinity;
    for (const [index, countedMs] of this.#countedMs.entries()) {
      available = Math.min(available, limits[index]! - this.#usedIn(countedMs, now));
    }
    return Math.max(0, available);
  }

  /** Gives a permit back; returns the time from which on it counts for one window, if it was sent. */
  release(use: PermitUse, now: number): number | undefined {
    this.inFlight -= 1;
    if (use === "unsent") return undefined;
    const at = use === "lost" ? now + arrivalGraceMs : now;
    this.#responses.splice(this.#after(at), 0, at);
    // Forgets what has left every window: by halves, so that each response is moved once at most.
    const left = this.#after(now - this.longestMs);
    if (left * 2 > this.#responses.length) this.#responses.splice(0, left);
    return at;
  }

  /** How many permits are used in each window. */
  used(now: number): number[] {
    return this.#countedMs.map((countedMs) => this.#usedIn(countedMs, now));
  }

  /** When each window has so many permits available; what is in flight is responded to now at the soonest. */
  availableInMs(now: number, limits: readonly number[], permits = 1): number[] {
    return this.#countedMs.map((countedMs, index) => {
      const mustLeave = this.#usedIn(countedMs, now) + permits - limits[index]!;
      if (mustLeave <= 0) return 0;
      const last = this.#after(now - countedMs) + mustLeave - 1;
      const respondedAt = this.#responses[last] ?? Math.max(now, this.#responses.at(-1) ?? now);
      return Math.max(0, respondedAt + countedMs - now);
    });
  }

  /** The window that is the last to have so many permits available. */
  limitingWindow(permits: number, now: number, limits: readonly number[]): RateLimitWindow {
    const waits = this.availableInMs(now, limits, permits);
    return this.#windows[waits.indexOf(Math.max(...waits))]!; // one of the waits is the longest
  }

  usage(now: number, limits: readonly number[]): WindowUsage[] {
    const used = this.used(now);
    const waits = this.availableInMs(now, limits);
    return this.#windows.map(({ limit, intervalMs }, index) => ({
      limit,
      intervalMs,
      used: used[index]!,
      freeInMs: Math.ceil(waits[index]!),
    }));
  }

  /** The responses that still count in some window, oldest first. */
  responses(now: number): number[] {
    return this.#responses.slice(this.#after(now - this.longestMs));
  }

  /** When the coming calls leave, from `startAt` on, if each is responded to after `roundTripMs`. */
  estimate(now: number, limits: readonly number[], roundTripMs: number, startAt: number): Estimate {
    const inFlight = Array<number>(this.inFlight).fill(now + roundTripMs / 2);
    const windows = this.#countedMs.map((countedMs, index) => ({ countedMs, limit: limits[index]! }));
    return new Estimate({ responses: [...this.responses(now), ...inFlight], windows, roundTripMs, startAt });
  }

  #usedIn(countedMs: number, now: number): number {
    return this.#responses.length - this.#after(now - countedMs) + this.inFlight;
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
}
