import type { RateLimitWindow } from "../errors.ts";
import {
  SlidingWindowLog,
  type PermitUse,
  type WindowUsage,
  widenedMs,
} from "../rate-limiter/sliding-window-log.ts";
import type { StoreUser } from "../rate-limiter/store.ts";
import { recoveryMs, type ScriptReply } from "./script-protocol.ts";

/** The state of a permit of this process: the time of its response, in flight, or never used. */
export type OwnState = number | "in flight" | "unsent";

/**
 * The shared count as this process knows it: each of its own permits, and the number of the others' at the last reply of
 * Redis. A Redis that lost its data gets its own permits again.
 *
 * Only Redis knows the times of the others' permits. `usage` counts each for as long as it may count, an estimate puts it in
 * the middle of that (D78). Neither decides whether a call may be sent.
 */
export class KnownPermits {
  readonly own: SlidingWindowLog;
  /** The name of this limiter, and the prefix of its ids. */
  readonly name = crypto.randomUUID();
  seenAt = -Infinity;
  otherProcesses = 0;
  readonly #windows: readonly RateLimitWindow[];
  readonly #states: Map<string, OwnState>;
  #made = 0;
  #others: readonly number[];
  /** While Redis recovers, its count is too low: the others have at least so many permits. */
  #recovery: { until: number; atLeast: readonly number[] };

  constructor({ windows, restored }: Pick<StoreUser, "windows" | "restored">) {
    const responses = restored.map(([, respondedAt]) => respondedAt);
    this.own = new SlidingWindowLog(windows, responses);
    this.#windows = windows;
    this.#states = new Map(restored);
    this.#others = windows.map(() => 0);
    this.#recovery = { until: -Infinity, atLeast: this.#others };
  }

  newId(): string {
    this.#made += 1;
    return `${this.name}:${this.#made}`;
  }

  hold(id: string): void {
    this.#states.set(id, "in flight");
    this.own.inFlight += 1;
  }

  release(id: string, use: PermitUse, now: number): void {
    this.#states.set(id, this.own.release(use, now) ?? "unsent");
  }

  /** Redis may have granted these, but no call uses them. */
  markUnsent(ids: readonly string[]): void {
    for (const id of ids) this.#states.set(id, "unsent");
  }

  get inFlight(): string[] {
    return [...this.#states].filter(([, state]) => state === "in flight").map(([id]) => id);
  }

  /** All permits that count, and unused ones that have not been reported to Redis. */
  all(now: number): ReadonlyMap<string, OwnState> {
    this.forget(now);
    return new Map(this.#states);
  }

  some(ids: readonly string[]): ReadonlyMap<string, OwnState> {
    return new Map(ids.map((id) => [id, this.#states.get(id)!])); // Safe: each was held or returned
  }

  forget(now: number): void {
    for (const [id, state] of this.#states) {
      if (typeof state === "number" && state + this.own.longestMs <= now) this.#states.delete(id);
    }
  }

  /** These were reported to Redis; returns the ids that have changed since. */
  acknowledge(sent: ReadonlyMap<string, OwnState>): string[] {
    for (const [id, state] of sent) {
      if (state === "unsent" && this.#states.get(id) === state) this.#states.delete(id);
    }
    return [...this.#states.keys()].filter((id) => sent.get(id) !== this.#states.get(id));
  }

  update({ used, others }: ScriptReply, now: number): void {
    const own = this.own.used(now);
    this.#others = used.map((all, index) => Math.max(0, all - own[index]!));
    // A Redis that lost its data does not know the other processes yet.
    this.otherProcesses = now < this.#recovery.until ? Math.max(this.otherProcesses, others) : others;
    this.seenAt = now;
  }

  /** Redis gets lost permits again: the others have those that are known, and may report so many additional ones. */
  recover(now: number, additional: readonly number[] = []): void {
    const atLeast = this.others(now).map((known, index) => known + (additional[index] ?? 0));
    this.#recovery = { until: now + recoveryMs, atLeast };
  }

  /** The permits that others use in each window, as last known. */
  others(now: number): readonly number[] {
    const { until, atLeast } = this.#recovery;
    return now < until ? this.#others.map((seen, index) => Math.max(seen, atLeast[index]!)) : this.#others;
  }

  /** `waitMs`: the known wait for the next permit, if it is above 0; the limiting window shows it. */
  usage(now: number, limits: readonly number[], waitMs: number): WindowUsage[] {
    const all = this.log(now, (shorterMs) => shorterMs);
    const limiting = this.log(now).limitingWindow(1, now, limits) ?? this.#windows[0];
    return all.usage(now, limits).map((window, index) => ({
      ...window,
      used: Math.min(window.limit, window.used),
      freeInMs: waitMs > 0 && this.#windows[index] === limiting ? Math.ceil(waitMs) : window.freeInMs,
    }));
  }

  /**
   * A log with the others' permits, by their age at the last reply: a permit that a window counts, and the next shorter one
   * does not, is older than the shorter one and younger than the longer one.
   */
  log(now: number, ageMs = (shorterMs: number, longerMs: number) => (shorterMs + longerMs) / 2) {
    const others = this.others(now);
    const theirs: number[] = [];
    let shorterMs = 0;
    const shortestFirst = [...this.#windows.entries()].toSorted(
      ([, a], [, b]) => a.intervalMs - b.intervalMs,
    );
    for (const [index, { intervalMs }] of shortestFirst) {
      const respondedAt = this.seenAt - ageMs(shorterMs, intervalMs);
      while (theirs.length < others[index]!) theirs.push(respondedAt);
      shorterMs = widenedMs(intervalMs);
    }
    const log = new SlidingWindowLog(this.#windows, [...this.own.responses(now), ...theirs]);
    log.inFlight = this.own.inFlight;
    return log;
  }
}
