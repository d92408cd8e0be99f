import {
  arrivalGraceMs,
  SlidingWindowLog,
  widenedMs,
  type PermitUse,
} from "../rate-limiter/sliding-window-log.ts";
import type { StoreUser } from "../rate-limiter/store.ts";
import type { KnownPermits } from "./known-permits.ts";

interface Logs {
  /** All permits of this process. */
  readonly all: SlidingWindowLog;
  /** Those that it has acquired without Redis. */
  readonly alone: SlidingWindowLog;
}

/**
 * An outage of Redis, and the count of the process that continues alone meanwhile.
 *
 * It uses its share of the rest of each limit, because earlier requests of all processes still count at the service. Its
 * own permits leave the windows one by one; those of other processes all at once, when none of them can count any more.
 */
export class LocalFallback {
  acquired = 0;
  /** Of the last failure. */
  reason = "";
  readonly since: number;
  readonly logs: Logs;
  readonly #user: StoreUser;
  readonly #permits: KnownPermits;
  readonly #share: number;
  /** When the next permit is available, as last found. */
  #nextAt = -Infinity;
  /** The permits that the others may use in each window, and until when these count. */
  readonly #others: readonly number[];
  readonly #othersUntil: readonly number[];

  constructor(
    user: StoreUser,
    permits: KnownPermits,
    { share, hasOthers }: { share: number; hasOthers: boolean },
  ) {
    const { windows, clock } = user;
    const now = (this.since = clock());
    this.logs = { all: permits.own, alone: new SlidingWindowLog(windows) };
    this.#user = user;
    this.#permits = permits;
    this.#share = share;
    // Since the last contact the others can have sent one limit for each window that has begun.
    const ofWindows = windows.map(({ limit, intervalMs }) =>
      hasOthers ? limit * (Math.floor((now - permits.seenAt) / intervalMs) + 1) : 0,
    );
    const sentSince = Math.min(...ofWindows);
    const others = permits.others(now);
    this.#others = windows.map(({ limit }, index) => Math.min(limit, others[index]! + sentSince));
    // By then their requests have arrived, and each has found Redis unavailable, too (D48).
    this.#othersUntil = windows.map(({ intervalMs }) => now + widenedMs(intervalMs) + arrivalGraceMs);
  }

  /** The id of a permit, if one is available; it is reported to Redis later. */
  acquire(now: number): string | undefined {
    if (this.available(now) === 0) return undefined;
    this.#nextAt = -Infinity;
    this.acquired += 1;
    this.logs.alone.inFlight += 1;
    const id = this.#permits.newId();
    this.#permits.hold(id);
    return id;
  }

  release(use: PermitUse, now: number): void {
    this.#nextAt = -Infinity;
    this.logs.alone.release(use, now);
  }

  available(now: number, logs = this.logs): number {
    return logs.alone.available(now, this.limits(now, logs));
  }

  /** The time until every window has a permit: it can have one whenever a permit leaves it, its own or the others'. */
  nextAvailableInMs(now: number): number {
    // Until the next change of its permits it is the same: a burst of calls asks once for each.
    if (!(this.#nextAt > now)) this.#nextAt = this.#nextAvailableAt(now);
    return this.#nextAt - now;
  }

  #nextAvailableAt(now: number): number {
    const logs = { all: this.logs.all.settled(now), alone: this.logs.alone.settled(now) };
    const leave = this.#user.windows.flatMap(({ intervalMs }) =>
      logs.all.responses(now).map((respondedAt) => respondedAt + widenedMs(intervalMs)),
    );
    const changes = [...leave, ...this.#othersUntil].filter((time) => time > now);
    const times = [now, ...changes.toSorted((a, b) => a - b)];
    const at = times.find((time) => this.available(time, logs) > 0);
    return at ?? times.at(-1)!; // at least the present time is there
  }

  /** The permits that the other processes can have acquired meanwhile, each its share. */
  leftToOthers(now: number): number[] {
    return this.#left(now).map((left) => Math.ceil(left * (1 - this.#share)));
  }

  /** The limits of this process: its share of the rest, or less after a 429. */
  limits(now: number, logs = this.logs): number[] {
    const shares = this.#left(now, logs).map((left) => Math.floor(left * this.#share));
    const windows = this.#user.windows.map((window, index) => ({ ...window, limit: shares[index]! }));
    return this.#user.rate.limitsOf(windows).map((limit, index) => Math.min(limit, shares[index]!));
  }

  /** The rest of each limit, after the requests of all processes before Redis was unavailable. */
  #left(now: number, { all, alone } = this.logs): number[] {
    const own = all.used(now);
    const meanwhile = alone.used(now);
    return this.#user.windows.map(({ limit }, index) => {
      const others = now < this.#othersUntil[index]! ? this.#others[index]! : 0;
      return Math.max(0, limit - (own[index]! - meanwhile[index]!) - others);
    });
  }
}
