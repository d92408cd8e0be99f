import { ConfigurationError } from "../errors.ts";

/** The count of a limiter as plain JSON, to give to the next one after a restart. All times are times of day. */
export interface RateLimiterSnapshot {
  readonly version: 1;
  readonly takenAt: number;
  /** When the calls that still count were answered. */
  readonly answeredAt: readonly number[];
  /** Calls that had no answer yet. */
  readonly inFlight: number;
  readonly pausedUntil?: number;
  /** The part of the limits in force after a 429. */
  readonly share: number;
}

/** The same on the monotonic clock of this process. */
export interface RestoredCount {
  readonly answeredAt: number[];
  readonly share: number;
  readonly pausedUntil: number;
}

// A call that was in flight when its process ended can still arrive, for as long as packets live in a slow network.
const arrivesWithinMs = 5_000;
// Nothing that was lost, and no pause, reaches further ahead.
const furthestAheadMs = 3_600_000;

export function takeSnapshot(
  count: RestoredCount & { inFlight: number },
  { now, timeOfDay }: { now: number; timeOfDay: number },
): RateLimiterSnapshot {
  const onThatDay = (time: number): number => Math.ceil(timeOfDay + (time - now));
  return {
    version: 1,
    takenAt: timeOfDay,
    answeredAt: count.answeredAt.map(onThatDay),
    inFlight: count.inFlight,
    ...(count.pausedUntil > now ? { pausedUntil: onThatDay(count.pausedUntil) } : {}),
    share: count.share,
  };
}

/** Carries the count over. A clock that was set back in between counts as if no time had passed. */
export function restore(snapshot: RateLimiterSnapshot, { now, timeOfDay }: { now: number; timeOfDay: number }): RestoredCount {
  const elapsedMs = Math.max(0, timeOfDay - snapshot.takenAt);
  const here = (time: number): number => now - elapsedMs + (time - snapshot.takenAt);
  const inFlight = Array.from({ length: snapshot.inFlight }, () => here(snapshot.takenAt) + arrivesWithinMs);
  return {
    answeredAt: [...snapshot.answeredAt.map(here), ...inFlight],
    share: snapshot.share,
    pausedUntil: snapshot.pausedUntil === undefined ? -Infinity : here(snapshot.pausedUntil),
  };
}

/** Checks what is given as a snapshot, as it comes from a file: garbage is a `ConfigurationError` that names the field. */
export function readSnapshot(value: unknown): RateLimiterSnapshot {
  if (typeof value !== "object" || value === null) refuse("", "what `limiter.snapshot()` gives");
  const snapshot = value as Partial<Record<keyof RateLimiterSnapshot, unknown>>; // each field is checked below
  const { version, takenAt, answeredAt, inFlight, pausedUntil, share } = snapshot;
  if (version !== 1) refuse(".version", "1");
  if (!isTime(takenAt)) refuse(".takenAt", "a time of day in milliseconds");
  const isInReach = (time: unknown): time is number => isTime(time) && time <= takenAt + furthestAheadMs;
  if (!Array.isArray(answeredAt) || !answeredAt.every(isInReach)) {
    refuse(".answeredAt", "a list of times of day in milliseconds, none of them far after `takenAt`");
  }
  if (typeof inFlight !== "number" || !Number.isInteger(inFlight) || inFlight < 0 || inFlight > 1e6) {
    refuse(".inFlight", "a number of calls");
  }
  if (pausedUntil !== undefined && !isInReach(pausedUntil)) {
    refuse(".pausedUntil", "a time of day in milliseconds, not far after `takenAt`");
  }
  if (typeof share !== "number" || !(share > 0 && share <= 1)) refuse(".share", "a number over 0, up to 1");
  return { version, takenAt, answeredAt, inFlight, share, ...(pausedUntil === undefined ? {} : { pausedUntil }) };
}

function isTime(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

function refuse(field: string, rule: string): never {
  throw new ConfigurationError(`\`snapshot${field}\` must be ${rule}. Leave \`snapshot\` out to start with an empty count.`);
}
