import type { RateLimitWindow } from "../errors.ts";

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
 * must have left the window. After a 429 fewer permits than `limit` are given for a while, which only `freeInMs` shows.
 */
export interface WindowUsage extends RateLimitWindow {
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

export interface Expected {
  readonly limits: readonly number[];
  readonly roundTripMs: number;
  /** Now, or the end of a pause. */
  readonly startAt: number;
}

/**
 * The count: how many permits are used in each window, and when the next is available. No timers; the time comes in, and
 * so do the limits in force, one for each window.
 *
 * A permit in flight counts, and comes back one window after its *response*: the service counted the request somewhere
 * between sending and response, so no latency can put more requests into its window than into ours ("Limits").
 */
export class SlidingWindowLog {
  inFlight = 0;
  /** How long a permit counts in the longest window. */
  readonly longestMs: number;
  readonly #windows: readonly RateLimitWindow[];
  readonly #countedMs: readonly number[];
  #responses: readonly number[];

  constructor(windows: readonly RateLimitWindow[], responses: readonly number[] = []) {
    this.#windows = windows;
    this.#countedMs = windows.map(({ intervalMs }) => widenedMs(intervalMs));
    this.longestMs = Math.max(...this.#countedMs);
    this.#responses = responses.toSorted((a, b) => a - b);
  }

  available(now: number, limits: readonly number[]): number {
    const available = this.used(now).map((used, index) => limits[index]! - used);
    return Math.max(0, Math.min(...available));
  }

  /** Gives a permit back; returns the time from which on it counts for one window, if it was sent. */
  release(use: PermitUse, now: number): number | undefined {
    this.inFlight -= 1;
    if (use === "unsent") return undefined;
    const at = use === "lost" ? now + arrivalGraceMs : now;
    this.#responses = [...this.#responsesWithin(this.longestMs, now), at].toSorted((a, b) => a - b);
    return at;
  }

  used(now: number): number[] {
    return this.#countedMs.map((countedMs) => this.#responsesWithin(countedMs, now).length + this.inFlight);
  }

  /** When each window has so many permits available; what is in flight is responded to now at the soonest. */
  availableInMs(now: number, limits: readonly number[], permits = 1): number[] {
    return this.#countedMs.map((countedMs, index) => {
      const counted = this.#responsesWithin(countedMs, now);
      const mustLeave = counted.length + this.inFlight + permits - limits[index]!;
      if (mustLeave <= 0) return 0;
      const respondedAt = counted[mustLeave - 1] ?? Math.max(now, counted.at(-1) ?? now);
      return respondedAt + countedMs - now;
    });
  }

  /** The window that is the last to have so many permits available; undefined if all have them. */
  limitingWindow(permits: number, now: number, limits: readonly number[]): RateLimitWindow | undefined {
    const waits = this.availableInMs(now, limits, permits);
    const longestMs = Math.max(...waits);
    return longestMs > 0 ? this.#windows[waits.indexOf(longestMs)] : undefined;
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
  responses(now: number): readonly number[] {
    return this.#responsesWithin(this.longestMs, now);
  }

  /** A copy in which all that is in flight is responded to now. */
  settled(now: number): SlidingWindowLog {
    const inFlight = Array<number>(this.inFlight).fill(now);
    return new SlidingWindowLog(this.#windows, [...this.responses(now), ...inFlight]);
  }

  /**
   * When the call at `position` (1 is the next) gets its response, if each call takes `roundTripMs` and none leaves before
   * `startAt`. A call leaves once the call `limit` positions before it was responded to one window ago, in every window.
   */
  respondedAt(position: number, now: number, { limits, roundTripMs, startAt }: Expected): number {
    const windows = this.#countedMs.map((countedMs, index) => ({
      countedMs,
      // A limit of less than one permit counts as one call at a time.
      limit: Math.max(1, limits[index]!),
    }));
    // After the first round of the largest limit the pattern repeats: the rounds far ahead are a multiplication.
    const round = Math.max(...windows.map(({ limit }) => limit));
    const rounds = Math.max(0, Math.ceil(position / round) - 3);
    const inFlight = Array<number>(this.inFlight).fill(now + roundTripMs / 2);
    const responses = [...this.responses(now), ...inFlight];
    let leavesAt = startAt;
    for (let call = 0; call < position - rounds * round; call += 1) {
      for (const { limit, countedMs } of windows) {
        leavesAt = Math.max(leavesAt, (responses.at(-limit) ?? -Infinity) + countedMs);
      }
      responses.push(leavesAt + roundTripMs);
    }
    const last = responses.at(-1)!; // of a position from 1 on
    const roundMs = rounds > 0 ? last - responses.at(-1 - round)! : 0;
    return last + rounds * roundMs;
  }

  #responsesWithin(countedMs: number, now: number): readonly number[] {
    return this.#responses.slice(this.#responses.findLastIndex((at) => at + countedMs <= now) + 1);
  }
}
