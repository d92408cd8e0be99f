import type { RateLimitWindow } from "../errors.ts";
import { firstIndex } from "../values/binary-search.ts";

/** How a permit was used. */
export type PermitUse =
  /** The response's headers are here: the permit comes back one window after now. */
  | "responded"
  /** Timed out, reset or cut: the permit comes back one window after the request can last have arrived. */
  | "lost"
  /** The request never left this machine: the permit is back at once. */
  | "unsent";

/** Gives a permit back; called once. */
export type Release = (use: PermitUse, now: number) => void;

/** A permit that is in flight, or still counts. */
export interface CountedPermit {
  /** The permit is of priority 9: the others are those for which room is left. */
  readonly isLast: boolean;
  readonly takenAt: number;
  /** Undefined for a permit in flight; of a lost one the last time at which its request can have arrived. */
  readonly respondedAt: number | undefined;
  /** The permit's name in a shared store; empty without one. */
  readonly id: string;
}

type RespondedPermit = CountedPermit & { readonly respondedAt: number };

/** So many permits of priority 9 go together where it goes evenly: as many as the second allows, so that workers are not idle. */
export const permitsPerPace = 10;

/** A request that was under way when its connection broke may still arrive, as long as packets live in a slow network. */
export const arrivalGraceMs = 5_000;

/**
 * How long a window is counted here, so that it is never shorter than the service's own count of it: a clock that is
 * slewed runs up to 0.05 % fast, and timers and timestamps are rounded.
 */
function widenedMs(intervalMs: number): number {
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
  /** The permits by the time of their response, oldest first. */
  readonly #responded: RespondedPermit[];
  /** The responded permits that are not of priority 9. */
  readonly #ofOthers: RespondedPermit[];
  /** When the last permits of priority 9 were taken, as many as the pace asks for, oldest first. */
  #takenByLast: CountedPermit[];

  constructor(windows: readonly RateLimitWindow[], permits: readonly CountedPermit[] = []) {
    this.windows = windows;
    this.countedMs = windows.map(({ intervalMs }) => widenedMs(intervalMs));
    this.#longestMs = Math.max(...this.countedMs);
    for (const permit of permits) if (!hasResponse(permit)) this.#inFlight.add(permit);
    this.#responded = permits.filter(hasResponse).toSorted((a, b) => a.respondedAt - b.respondedAt);
    this.#ofOthers = this.#responded.filter(isOfOthers);
    const ofLast = permits.filter(({ isLast }) => isLast);
    this.#takenByLast = ofLast.toSorted((a, b) => a.takenAt - b.takenAt).slice(-permitsPerPace);
  }

  get inFlight(): number {
    return this.#inFlight.size;
  }

  /** A permit that is in flight from now on. */
  take({ isLast, id }: Pick<CountedPermit, "isLast" | "id">, now: number): CountedPermit {
    for (const permits of [this.#responded, this.#ofOthers]) {
      const firstCounted = firstWithin(permits, this.#longestMs, now);
      // Old permits leave many at a time, as all behind them move.
      if (firstCounted > permits.length / 2) permits.splice(0, firstCounted);
    }
    const permit = { isLast, id, takenAt: now, respondedAt: undefined };
    this.#inFlight.add(permit);
    if (isLast) this.#takenByLast = [...this.#takenByLast, permit].slice(-permitsPerPace);
    return permit;
  }

  /** Gives a permit back: unless it was not sent, it counts for one window from its response on. */
  release(permit: CountedPermit, use: PermitUse, now: number): void {
    this.#inFlight.delete(permit);
    if (use === "unsent") {
      this.#takenByLast = this.#takenByLast.filter((taken) => taken !== permit);
      return;
    }
    const responded = { ...permit, respondedAt: use === "lost" ? now + arrivalGraceMs : now };
    for (const permits of isOfOthers(permit) ? [this.#responded, this.#ofOthers] : [this.#responded])
      permits.splice(firstWithin(permits, 0, responded.respondedAt), 0, responded);
  }

  /** The permits that still count in some window: by their responses, and then those in flight. */
  permits(now: number): readonly CountedPermit[] {
    return [...this.#responded.slice(firstWithin(this.#responded, this.#longestMs, now)), ...this.#inFlight];
  }

  used(now: number): number[] {
    return this.countedMs.map(
      (countedMs) => this.#inFlight.size + countWithin(this.#responded, countedMs, now),
    );
  }

  /** The part of `used` that is not of priority 9. */
  usedByOthers(now: number): number[] {
    return this.countedMs.map((countedMs) => this.usedBy(false, countedMs, now));
  }

  /** The permits of a class, priority 9 or the others, that a window of this length counts. */
  usedBy(isLast: boolean, countedMs: number, now: number): number {
    const inFlight = [...this.#inFlight].filter((permit) => permit.isLast === isLast).length;
    const ofOthers = countWithin(this.#ofOthers, countedMs, now);
    return inFlight + (isLast ? countWithin(this.#responded, countedMs, now) - ofOthers : ofOthers);
  }

  /** The time until the next permit leaves each window; `Infinity` where none has a response. */
  nextLeavesInMs(now: number): number[] {
    return this.countedMs.map((countedMs) => {
      const next = this.#responded[firstWithin(this.#responded, countedMs, now)];
      return next ? next.respondedAt + countedMs - now : Infinity;
    });
  }

  /** When the last ten permits of priority 9 were taken, oldest first. */
  get takenByLast(): number[] {
    return this.#takenByLast.map(({ takenAt }) => takenAt);
  }

  /** The time until each window has a permit available; what is in flight is responded to now at the soonest. */
  availableInMs(now: number, limits: readonly number[]): number[] {
    return this.countedMs.map((countedMs, index) => {
      const firstCounted = firstWithin(this.#responded, countedMs, now);
      const mustLeave = this.#responded.length - firstCounted + this.#inFlight.size + 1 - limits[index]!;
      if (mustLeave <= 0) return 0;
      const last = this.#responded.at(-1)?.respondedAt ?? now;
      const respondedAt = this.#responded[firstCounted + mustLeave - 1]?.respondedAt ?? Math.max(now, last);
      return respondedAt + countedMs - now;
    });
  }
}

/** The index of the first response that a window counts. */
function firstWithin(permits: readonly RespondedPermit[], countedMs: number, now: number): number {
  return firstIndex(permits, ({ respondedAt }) => respondedAt + countedMs <= now);
}

function countWithin(permits: readonly RespondedPermit[], countedMs: number, now: number): number {
  return permits.length - firstWithin(permits, countedMs, now);
}

function hasResponse(permit: CountedPermit): permit is RespondedPermit {
  return permit.respondedAt !== undefined;
}

function isOfOthers({ isLast }: CountedPermit): boolean {
  return !isLast;
}
