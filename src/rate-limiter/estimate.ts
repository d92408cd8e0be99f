import { RateLimitWaitError } from "../errors.ts";
import type { ExpectedWait } from "./permit-request.ts";
import {
  type Allowance,
  allowanceOf,
  limitingWindow,
  others,
  type PermitClass,
  permitsPerSpacing,
} from "./reserve.ts";
import type { SlidingWindowLog } from "./sliding-window-log.ts";
import type { PermitStore } from "./store.ts";

// An average over about the last 50 calls: steadier than any one of them, and still following the network.
const averagedCalls = 50;

/** What is expected of the calls to come, all of one class. */
export interface Expected {
  readonly allowance: Allowance;
  readonly roundTripMs: number;
  /** None leaves before: now, or the end of a pause. */
  readonly startAt: number;
}

/**
 * When the call at `position` (1 is the next) gets its response, if each call takes `roundTripMs`. A call leaves once the
 * call `limit` positions before it was responded to one window ago, in every window.
 */
function respondedAt(position: number, log: SlidingWindowLog, now: number, expected: Expected): number {
  const { allowance, roundTripMs, startAt } = expected;
  const { spacingMs } = allowance;
  const windows = log.countedMs.map((countedMs, index) => ({
    countedMs,
    // A limit of less than one permit counts as one call at a time.
    limit: Math.max(1, allowance.limits[index]!),
  }));
  // After the first round of the largest limit the pattern repeats: the rounds far ahead are a multiplication.
  const round = Math.max(...windows.map(({ limit }) => limit));
  const rounds = Math.max(0, Math.ceil(position / round) - 3);
  const responses = log.permits(now).map((permit) => permit.respondedAt ?? now + roundTripMs / 2);
  const taken = log.takenByLast(now - spacingMs);
  let leavesAt = startAt;
  for (let call = 0; call < position - rounds * round; call += 1) {
    for (const { limit, countedMs } of windows) {
      leavesAt = Math.max(leavesAt, (responses.at(-limit) ?? -Infinity) + countedMs);
    }
    leavesAt = Math.max(leavesAt, (taken.at(-permitsPerSpacing) ?? -Infinity) + spacingMs);
    taken.push(leavesAt);
    responses.push(leavesAt + roundTripMs);
  }
  const last = responses.at(-1)!; // of a position from 1 on
  const roundMs = rounds > 0 ? last - responses.at(-1 - round)! : 0;
  return last + rounds * roundMs;
}

/** The waits of the calls that a store is asked for, as they are expected. */
export class Estimates {
  readonly #store: PermitStore;
  /** The mean time from a permit to its response. */
  #roundTripMs = 0;
  #responses = 0;

  constructor(store: PermitStore) {
    this.#store = store;
  }

  addRoundTrip(roundTripMs: number): void {
    this.#responses += 1;
    this.#roundTripMs += (roundTripMs - this.#roundTripMs) / Math.min(averagedCalls, this.#responses);
  }

  /** The time until the call at `position` (1 is the next) has its response, if all before it are of its class. */
  respondedInMs(permitClass: PermitClass, position: number, now: number): number {
    const { log, limits, startAt } = this.#store.known(now);
    const allowance = allowanceOf(permitClass, log, limits, now);
    return respondedAt(position, log, now, { allowance, roundTripMs: this.#roundTripMs, startAt }) - now;
  }

  /** The time until it leaves. */
  wait(permitClass: PermitClass, position: number, now: number): ExpectedWait {
    const waitMs = this.#waitMs(permitClass, position, now);
    return { waitMs, isForOthers: permitClass.isLast && waitMs > this.#waitMs(others, position, now) };
  }

  #waitMs(permitClass: PermitClass, position: number, now: number): number {
    return Math.max(0, this.respondedInMs(permitClass, position, now) - this.#roundTripMs);
  }

  /** The error of a call that gets no permit, by default as its wait would be too long. */
  error(permitClass: PermitClass, position: number, now: number, reason?: string): RateLimitWaitError {
    const expected = this.wait(permitClass, position, now);
    const waitMs = Math.ceil(expected.waitMs);
    const forOthers = expected.isForOthers
      ? " It leaves room for other calls: see the option `reserve`."
      : "";
    const why =
      reason ??
      `The wait of ${waitMs} ms is longer than \`maxWaitMs\`, of the call or its client, or \`deadlineMs\` allows.${forOthers}`;
    const { log, limits } = this.#store.known(now);
    const window = limitingWindow(allowanceOf(permitClass, log, limits, now), log, position, now);
    const retryAt = new Date(Date.now() + waitMs);
    return new RateLimitWaitError({ message: `No permit. ${why}`, waitMs, retryAt, window });
  }
}
