import * as z from "zod";
import type { AdaptiveRate } from "./adaptive-rate.ts";
import { arrivalGraceMs, type CountedPermit, type SlidingWindowLog } from "./sliding-window-log.ts";

/** The count of a limiter as plain JSON, to give to the next one after a restart. All times are times of day. */
export interface RateLimiterSnapshot {
  /** Of this form. */
  readonly version: 1;
  /** The time of the snapshot, in milliseconds since 1970. */
  readonly takenAt: number;
  /** The response times of the calls that still count; for a call in flight, the last time at which it can arrive. */
  readonly answeredAt: readonly number[];
  /** With a shared store: the name of each call there, in the same order. */
  readonly ids?: readonly string[];
  /** Which of the calls are of priority 9, in the same order; absent in a snapshot of an earlier version. */
  readonly isLast?: readonly boolean[];
  /** When the pause after a 429 ends, in milliseconds since 1970; absent where there is none. */
  readonly pausedUntil?: number;
  /** The part of the limits in force: 1, or less after a 429. */
  readonly share: number;
}

export function takeSnapshot(log: SlidingWindowLog, rate: AdaptiveRate, now: number): RateLimiterSnapshot {
  const takenAt = Date.now();
  const pausedMs = rate.pausedMs(now);
  const onThatDay = (time: number): number => Math.ceil(takenAt + (time - now));
  const permits = log.permits(now);
  const ids = permits.map(({ id }) => id);
  return {
    version: 1,
    takenAt,
    answeredAt: permits.map(({ respondedAt = now + arrivalGraceMs }) => onThatDay(respondedAt)),
    isLast: permits.map(({ isLast }) => isLast),
    ...(ids.every((id) => id !== "") && ids.length > 0 ? { ids } : {}),
    ...(pausedMs > 0 ? { pausedUntil: onThatDay(now + pausedMs) } : {}),
    share: rate.factor,
  };
}

/** The counts of several limiters as one; undefined for none. */
export function joinedSnapshot(snapshots: readonly RateLimiterSnapshot[]): RateLimiterSnapshot | undefined {
  if (snapshots.length === 0) return undefined;
  return {
    version: 1,
    takenAt: Math.max(...snapshots.map(({ takenAt }) => takenAt)),
    answeredAt: snapshots.flatMap(({ answeredAt }) => answeredAt),
    isLast: snapshots.flatMap(({ isLast }) => isLast ?? []),
    pausedUntil: Math.max(...snapshots.map(({ pausedUntil = 0 }) => pausedUntil)),
    share: Math.min(...snapshots.map(({ share }) => share)),
  };
}

/** What a limiter begins with. */
export interface Restored {
  readonly permits: readonly CountedPermit[];
  readonly share: number;
  readonly pausedUntil: number;
}

/** Carries the count over. A clock that was set back in between counts as if no time had passed. */
export function restore(
  { takenAt, answeredAt, ids, isLast, pausedUntil, share }: z.output<typeof snapshotSchema>,
  now: number,
): Restored {
  const elapsedMs = Math.max(0, Date.now() - takenAt);
  const here = (time: number): number => now - elapsedMs + (time - takenAt);
  const permits = answeredAt.map((time, index) => ({
    // Of an earlier version nothing is known: no call is to be taken for the others' demand by mistake.
    isLast: isLast?.[index] ?? true,
    takenAt: here(time),
    respondedAt: here(time),
    // Without a store there are no ids; a store that is new to these permits takes any that are the same each time.
    id: ids?.[index] ?? `snapshot:${takenAt}:${index}`,
  }));
  return { permits, share, pausedUntil: pausedUntil === undefined ? -Infinity : here(pausedUntil) };
}

const time = z.number().nonnegative();

/** A snapshot may come from a file. */
export const snapshotSchema = z.object({
  version: z.literal(1, {
    error: "must be what `limiter.snapshot()` gives; left out, the count starts empty",
  }),
  takenAt: time,
  answeredAt: z.array(time),
  ids: z.array(z.string()).optional(),
  isLast: z.array(z.boolean()).optional(),
  pausedUntil: time.optional(),
  share: z.number().positive().max(1),
});
