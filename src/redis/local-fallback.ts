import type { RateLimitWindow } from "../errors.ts";
import type { AdaptiveRate } from "../rate-limiter/adaptive-rate.ts";
import {
  arrivalGraceMs,
  SlidingWindowLog,
  widenedMs,
  type Expected,
  type PermitUse,
} from "../rate-limiter/sliding-window-log.ts";
import type { KnownPermits } from "./known-permits.ts";

interface FallbackState {
  readonly windows: readonly RateLimitWindow[];
  readonly rate: AdaptiveRate;
  /** Holds all permits of this process, those that it acquires without Redis among them. */
  readonly permits: KnownPermits;
  /** The permits that other processes used in each window at the last contact. */
  readonly others: readonly number[];
  /** The time since then; undefined if there were no other processes. */
  readonly seenMsAgo: number | undefined;
  readonly share: number;
  readonly now: number;
}

interface Logs {
  readonly all: SlidingWindowLog;
  readonly alone: SlidingWindowLog;
}

/**
 * The count of a process that continues alone while Redis is unavailable.
 *
 * It uses its share of the rest of each limit, because earlier requests of all processes still count at the service. Its
 * own permits leave the windows one by one; those of other processes all at once, when none of them can count any more.
 */
export class LocalFallback {
  acquired = 0;
  /** When the next permit is available, as last found. */
  #nextAt = -Infinity;
  readonly #logs: Logs;
  readonly #state: FallbackState;
  /** The permits that the others may use in each window, and until when these count. */
  readonly #others: readonly number[];
  readonly #othersUntil: readonly number[];

  constructor(state: FallbackState) {
    const { windows, permits, others, seenMsAgo, now } = state;
    this.#logs = { all: permits.own, alone: new SlidingWindowLog(windows) };
    this.#state = state;
    // Since the last contact the others can have sent one limit for each window that has begun.
    const ofWindows = windows.map(({ limit, intervalMs }) =>
      seenMsAgo === undefined ? 0 : limit * (Math.floor(seenMsAgo / intervalMs) + 1),
    );
    const sentSince = Math.min(...ofWindows);
    this.#others = windows.map(({ limit }, index) => Math.min(limit, others[index]! + sentSince));
    // By then their requests have arrived, and each has found Redis unavailable, too (D48).
    this.#othersUntil = windows.map(({ intervalMs }) => now + widenedMs(intervalMs) + arrivalGraceMs);
  }

  /** The id of a permit, if one is available; it is reported to Redis later. */
  acquire(now: number): string | undefined {
    if (this.available(now) === 0) return undefined;
    this.#nextAt = -Infinity;
    this.acquired += 1;
    this.#logs.alone.inFlight += 1;
    const id = this.#state.permits.newId();
    this.#state.permits.hold(id);
    return id;
  }

  release(use: PermitUse, now: number): void {
    this.#nextAt = -Infinity;
    this.#logs.alone.release(use, now);
  }

  available(now: number, logs: Logs = this.#logs): number {
    return logs.alone.available(now, this.#limits(now, logs));
  }

  /** The time until every window has a permit: it can have one whenever a permit leaves it, its own or the others'. */
  nextAvailableInMs(now: number): number {
    // Until the next change of its permits it is the same: a burst of calls asks once for each.
    if (!(this.#nextAt > now)) this.#nextAt = this.#nextAvailableAt(now);
    return this.#nextAt - now;
  }

  #nextAvailableAt(now: number): number {
    const logs = { all: this.#logs.all.settled(now), alone: this.#logs.alone.settled(now) };
    const leave = this.#state.windows.flatMap(({ intervalMs }) =>
      logs.all.responses(now).map((respondedAt) => respondedAt + widenedMs(intervalMs)),
    );
    const changes = [...leave, ...this.#othersUntil].filter((time) => time > now);
    const times = [now, ...changes.toSorted((a, b) => a - b)];
    const at = times.find((time) => this.available(time, logs) > 0);
    return at ?? times.at(-1)!; // at least the present time is there
  }

  /** With the limits at the start: at present they may be 0. */
  respondedAt(position: number, now: number, expected: Expected): number {
    const limits = this.#limits(expected.startAt);
    return this.#logs.alone.respondedAt(position, now, { ...expected, limits });
  }

  /** The permits that the other processes can have acquired meanwhile, each its share. */
  leftToOthers(now: number): number[] {
    return this.#left(now).map((left) => Math.ceil(left * (1 - this.#state.share)));
  }

  /** The limits of this process: its share of the rest, or less after a 429. */
  #limits(now: number, logs?: Logs): number[] {
    const shares = this.#left(now, logs).map((left) => Math.floor(left * this.#state.share));
    const windows = this.#state.windows.map((window, index) => ({ ...window, limit: shares[index]! }));
    return this.#state.rate.limitsOf(windows).map((limit, index) => Math.min(limit, shares[index]!));
  }

  /** The rest of each limit, after the requests of all processes before Redis was unavailable. */
  #left(now: number, { all, alone }: Logs = this.#logs): number[] {
    const own = all.used(now);
    const meanwhile = alone.used(now);
    return this.#state.windows.map(({ limit }, index) => {
      const others = now < this.#othersUntil[index]! ? this.#others[index]! : 0;
      return Math.max(0, limit - (own[index]! - meanwhile[index]!) - others);
    });
  }
}
