import type { RateLimitWindow } from "../errors.ts";

/** How a permit was used. */
export type PermitUse =
  /** The response's headers are here: the permit comes back one window after now. */
  | "responded"
  /** Timed out, reset or cut: the permit comes back one window after the request can last have arrived. */
  | "lost"
  /** The request never left this machine: the permit is back at once. */
  | "unsent";

/** A permit that is in flight, or still counts. */
export interface CountedPermit {
  /** It is of priority 9: the others are those for which room is left. */
  readonly isLast: boolean;
  readonly takenAt: number;
  /** Undefined while it is in flight; of a lost one the last time at which its request can have arrived. */
  readonly respondedAt: number | undefined;
  /** Its name in a shared store. */
  readonly id?: string | undefined;
}

type RespondedPermit = CountedPermit & { readonly respondedAt: number };

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
  readonly windows: readonly RateLimitWindow[];
  /** How long a permit counts in each window. */
  readonly countedMs: readonly number[];
  readonly #longestMs: number;
  readonly #inFlight = new Set<CountedPermit>();
  /** By the time of the response, oldest first. */
  readonly #responded: RespondedPermit[];

  constructor(windows: readonly RateLimitWindow[], permits: readonly CountedPermit[] = []) {
    this.windows = windows;
    this.countedMs = windows.map(({ intervalMs }) => widenedMs(intervalMs));
    this.#longestMs = Math.max(...this.countedMs);
    for (const permit of permits) if (!hasResponse(permit)) this.#inFlight.add(permit);
    this.#responded = permits.filter(hasResponse).toSorted((a, b) => a.respondedAt - b.respondedAt);
  }

  get inFlight(): number {
    return this.#inFlight.size;
  }

  /** A permit that is in flight from now on. */
  take({ isLast, id }: Pick<CountedPermit, "isLast" | "id">, now: number): CountedPermit {
    const permit = { isLast, id, takenAt: now, respondedAt: undefined };
    this.#inFlight.add(permit);
    return permit;
  }

  /** Gives a permit back; returns the time from which on it counts for one window, if it was sent. */
  release(permit: CountedPermit, use: PermitUse, now: number): number | undefined {
    this.#inFlight.delete(permit);
    if (use === "unsent") return undefined;
    const respondedAt = use === "lost" ? now + arrivalGraceMs : now;
    this.#responded.splice(0, this.#firstWithin(this.#longestMs, now));
    const before = this.#responded.findLastIndex((other) => other.respondedAt <= respondedAt);
    this.#responded.splice(before + 1, 0, { ...permit, respondedAt });
    return respondedAt;
  }

  /** The permits that still count in some window: by their responses, and then those in flight. */
  permits(now: number): readonly CountedPermit[] {
    return [...this.#responded.slice(this.#firstWithin(this.#longestMs, now)), ...this.#inFlight];
  }

  used(now: number): number[] {
    const permits = this.#responded.length + this.#inFlight.size;
    return this.countedMs.map((countedMs) => permits - this.#firstWithin(countedMs, now));
  }

  /** The part of `used` that is not of priority 9. */
  usedByOthers(now: number): number[] {
    const inFlight = [...this.#inFlight].filter(isOfOthers).length;
    return this.countedMs.map((countedMs) => {
      const responded = this.#responded.slice(this.#firstWithin(countedMs, now));
      return responded.filter(isOfOthers).length + inFlight;
    });
  }

  /** When permits of priority 9 were taken after `since`, oldest first. */
  takenByLast(since: number): number[] {
    // A response comes after its permit was taken.
    const permits = [...this.#responded.slice(this.#firstWithin(0, since)), ...this.#inFlight];
    const taken = permits.flatMap(({ isLast, takenAt }) => (isLast && takenAt > since ? [takenAt] : []));
    return taken.toSorted((a, b) => a - b);
  }

  available(now: number, limits: readonly number[]): number {
    const available = this.used(now).map((used, index) => limits[index]! - used);
    return Math.max(0, Math.min(...available));
  }

  /** When each window has so many permits available; what is in flight is responded to now at the soonest. */
  availableInMs(now: number, limits: readonly number[], permits = 1): number[] {
    return this.countedMs.map((countedMs, index) => {
      const first = this.#firstWithin(countedMs, now);
      const mustLeave = this.#responded.length - first + this.#inFlight.size + permits - limits[index]!;
      if (mustLeave <= 0) return 0;
      const last = this.#responded.at(-1)?.respondedAt ?? now;
      const respondedAt = this.#responded[first + mustLeave - 1]?.respondedAt ?? Math.max(now, last);
      return respondedAt + countedMs - now;
    });
  }

  /** The window that is the last to have so many permits available; undefined if all have them. */
  limitingWindow(permits: number, now: number, limits: readonly number[]): RateLimitWindow | undefined {
    const waits = this.availableInMs(now, limits, permits);
    const longestMs = Math.max(...waits);
    return longestMs > 0 ? this.windows[waits.indexOf(longestMs)] : undefined;
  }

  /** The index of the first response that a window counts. */
  #firstWithin(countedMs: number, now: number): number {
    let [from, to] = [0, this.#responded.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (this.#responded[middle]!.respondedAt + countedMs <= now) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}

function hasResponse(permit: CountedPermit): permit is RespondedPermit {
  return permit.respondedAt !== undefined;
}

function isOfOthers({ isLast }: CountedPermit): boolean {
  return !isLast;
}
