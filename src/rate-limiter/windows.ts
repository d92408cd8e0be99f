import type { RateLimitWindow } from "../errors.ts";
import { Forecast } from "./forecast.ts";

// A clock that is slewed runs up to 0.05 % fast, and timers and timestamps are rounded: so each window is counted a
// little longer than the service counts it.
const slewFactor = 1.0005;
const roundingMs = 5;

/** How long a window is counted here, so that it is never shorter than the service's own count of it. */
export function widened(intervalMs: number): number {
  return intervalMs * slewFactor + roundingMs;
}

interface CountedWindow {
  readonly window: RateLimitWindow;
  readonly countedMs: number;
  /** The limit in force: the documented one, or less after a 429. */
  limit: number;
  /** Where this window begins in the log: everything before it has left the window. */
  head: number;
}

/**
 * The count: how many places are taken in each window, and when the next one is back. Pure, no timers; the time comes in.
 *
 * A place in flight counts, and comes back one window after its *answer*: the service counted the call somewhere
 * between sending and answer, so no latency can put more calls into its window than into ours ("Limits").
 */
export class Windows {
  readonly #windows: CountedWindow[];
  /** Times of answers, sorted, from `#start` on. Never more than the longest window can hold. */
  #log: number[];
  #start = 0;
  #inFlight = 0;

  constructor(windows: readonly RateLimitWindow[], answeredAt: readonly number[] = []) {
    this.#windows = windows.map((window) => ({
      window,
      countedMs: widened(window.intervalMs),
      limit: window.limit,
      head: 0,
    }));
    this.#log = answeredAt.toSorted((a, b) => a - b);
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** How many entries the log takes up: those that count, and at most as many again that do not. */
  get entriesKept(): number {
    return this.#log.length;
  }

  /** How many places are free in every window. */
  free(now: number): number {
    this.#advance(now);
    let free = Infinity;
    for (const counted of this.#windows) free = Math.min(free, counted.limit - this.#usedIn(counted));
    return Math.max(0, free);
  }

  take(): void {
    this.#inFlight += 1;
  }

  /** The place comes back one window after `at`, which may lie ahead. */
  answer(at: number): void {
    this.#inFlight -= 1;
    const log = this.#log;
    let index = log.length;
    while (index > this.#start && log[index - 1]! > at) index -= 1;
    if (index === log.length) log.push(at);
    else log.splice(index, 0, at);
  }

  /** The call never left: the place is back at once. */
  giveBack(): void {
    this.#inFlight -= 1;
  }

  /** The soonest that `count` places can be free, in milliseconds; what is in flight counts as answered now. */
  eta(count: number, now: number): number {
    this.#advance(now);
    let etaMs = 0;
    for (const counted of this.#windows) etaMs = Math.max(etaMs, this.#etaIn(counted, count, now));
    return etaMs;
  }

  /** The window that is the last to have `count` places free. */
  fullest(count: number, now: number): RateLimitWindow {
    this.#advance(now);
    const fuller = (a: CountedWindow, b: CountedWindow): CountedWindow =>
      this.#etaIn(b, count, now) > this.#etaIn(a, count, now) ? b : a;
    return this.#windows.reduce(fuller).window;
  }

  usage(now: number): { limit: number; intervalMs: number; used: number; freeInMs: number }[] {
    this.#advance(now);
    return this.#windows.map((counted) => ({
      limit: counted.window.limit,
      intervalMs: counted.window.intervalMs,
      used: this.#usedIn(counted),
      freeInMs: Math.ceil(this.#etaIn(counted, 1, now)),
    }));
  }

  /** Counts `share` of each limit, but of the longest window the whole: a slower pace, not a smaller hourly budget. */
  shrink(share: number): void {
    const longestMs = Math.max(...this.#windows.map(({ window }) => window.intervalMs));
    for (const counted of this.#windows) {
      if (counted.window.intervalMs === longestMs) continue;
      counted.limit = Math.max(1, Math.floor(counted.window.limit * share));
    }
  }

  /** Counts these limits instead of the windows' own: one for each, in their order. */
  setLimits(limits: readonly number[]): void {
    for (const [index, counted] of this.#windows.entries()) counted.limit = limits[index]!;
  }

  /** The answers that still count in some window, oldest first. */
  answeredAt(now: number): number[] {
    this.#advance(now);
    return this.#log.slice(this.#start);
  }

  /** When the coming calls leave, if each is answered `roundTripMs` after it left. */
  forecast(now: number, roundTripMs: number, pausedMs: number): Forecast {
    const history = this.answeredAt(now);
    for (let call = 0; call < this.#inFlight; call += 1) history.push(now + roundTripMs / 2);
    return new Forecast({ history, windows: this.#windows, roundTripMs, startAt: now + pausedMs });
  }

  #usedIn(counted: CountedWindow): number {
    return this.#log.length - counted.head + this.#inFlight;
  }

  #etaIn(counted: CountedWindow, count: number, now: number): number {
    const mustLeave = this.#usedIn(counted) + count - counted.limit;
    if (mustLeave <= 0) return 0;
    const last = this.#log[Math.min(counted.head + mustLeave, this.#log.length) - 1];
    const logged = this.#log.length - counted.head;
    // What is in flight is answered now at the soonest, and not before the last that is logged.
    const answeredAt = mustLeave <= logged ? last! : Math.max(last ?? now, now);
    return Math.max(0, answeredAt + counted.countedMs - now);
  }

  #advance(now: number): void {
    const log = this.#log;
    let oldest = log.length;
    for (const counted of this.#windows) {
      const leftBefore = now - counted.countedMs;
      while ((log[counted.head] ?? Infinity) <= leftBefore) counted.head += 1;
      oldest = Math.min(oldest, counted.head);
    }
    this.#start = oldest;
    // By halves, so that to be forgotten costs each entry one move.
    if (oldest > 1_024 && oldest * 2 > log.length) {
      log.splice(0, oldest);
      this.#start = 0;
      for (const counted of this.#windows) counted.head -= oldest;
    }
  }
}
