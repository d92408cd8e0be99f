import * as z from "zod";
import { type AdaptiveRate, longestPauseMs } from "./adaptive-rate.ts";
import { arrivalGraceMs, type SlidingWindowLog } from "./sliding-window-log.ts";

/** The count of a limiter as plain JSON, to give to the next one after a restart. All times are times of day. */
export interface RateLimiterSnapshot {
  /** Of this form. */
  readonly version: 1;
  /** The time of the snapshot, in milliseconds since 1970. */
  readonly takenAt: number;
  /**
   * The calls that still count: when the response came (of a call in flight, the last time at which it can arrive), whether it
   * is of priority 9, and its name in a shared store, empty without one.
   */
  readonly permits: readonly {
    readonly respondedAt: number;
    readonly isLast: boolean;
    readonly id: string;
  }[];
  /** When the pause after a 429 ends, in milliseconds since 1970; not after `takenAt` where there is none. */
  readonly pausedUntil: number;
  /** The part of the limits in force: 1, or less after a 429. */
  readonly share: number;
}

export function takeSnapshot(log: SlidingWindowLog, rate: AdaptiveRate, now: number): RateLimiterSnapshot {
  const takenAt = Date.now();
  const timeOfDay = (time: number): number => Math.ceil(takenAt + (time - now));
  const permits = log.permits(now).map(({ respondedAt = now + arrivalGraceMs, isLast, id }) => ({
    respondedAt: timeOfDay(respondedAt),
    isLast,
    id,
  }));
  const pausedUntil = timeOfDay(now + rate.pausedMs(now));
  return { version: 1, takenAt, permits, pausedUntil, share: rate.factor };
}

/** The counts of several limiters as one; undefined for none. */
export function joinedSnapshot(snapshots: readonly RateLimiterSnapshot[]): RateLimiterSnapshot | undefined {
  if (snapshots.length === 0) return undefined;
  return {
    version: 1,
    takenAt: Math.max(...snapshots.map(({ takenAt }) => takenAt)),
    permits: snapshots.flatMap(({ permits }) => permits.map((permit) => ({ ...permit, id: "" }))),
    pausedUntil: Math.max(...snapshots.map(({ pausedUntil }) => pausedUntil)),
    share: Math.min(...snapshots.map(({ share }) => share)),
  };
}

/**
 * Carries the count over. A clock that was set back in between counts as if no time had passed. No time is further ahead than
 * a limiter sets one: a file may hold any (D130).
 */
export function restore(snapshot: RateLimiterSnapshot, now: number) {
  const { takenAt, share } = snapshot;
  const elapsedMs = Math.max(0, Date.now() - takenAt);
  const onClock = (time: number, longestMs: number): number =>
    now + Math.min(longestMs, time - takenAt - elapsedMs);
  const permits = snapshot.permits.map(({ isLast, id, ...permit }, index) => {
    const respondedAt = onClock(permit.respondedAt, arrivalGraceMs);
    // Without a store there are no ids; a store that is new to these permits takes any that are the same each time.
    return { isLast, takenAt: respondedAt, respondedAt, id: id || `snapshot:${takenAt}:${index}` };
  });
  return { permits, rateFactor: share, pausedUntil: onClock(snapshot.pausedUntil, longestPauseMs) };
}

const timeSchema = z.number().nonnegative();

/** The snapshot of a limiter may come from a file. */
export const limiterSnapshotSchema = z.object({
  version: z.literal(1, {
    error: "must be what `limiter.snapshot()` gives; left out, the count starts empty",
  }),
  takenAt: timeSchema,
  permits: z.array(z.object({ respondedAt: timeSchema, isLast: z.boolean(), id: z.string() })),
  pausedUntil: timeSchema,
  share: z.number().positive().max(1),
});
