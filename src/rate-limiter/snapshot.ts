import { ConfigurationError } from "../errors.ts";
import { isObject } from "../schema/kind-of.ts";

/** The count of a limiter as plain JSON, to give to the next one after a restart. All times are times of day. */
export interface RateLimiterSnapshot {
  /** Of this form. */
  readonly version: 1;
  /** When it was taken, in milliseconds since 1970. */
  readonly takenAt: number;
  /** When the calls that still count were answered; of those in flight, when they can last have arrived. */
  readonly answeredAt: readonly number[];
  /** With a shared store: the name of each call there, in the same order. */
  readonly ids?: readonly string[];
  /** When the pause after a 429 ends, in milliseconds since 1970; absent where there is none. */
  readonly pausedUntil?: number;
  /** The part of the limits in force: 1, or less after a 429. */
  readonly share: number;
}

/** A count, in the time of a process. */
export interface Count {
  /** Each call that still counts: its id, where a store has it, and when it was answered (undefined: in flight). */
  readonly entries: readonly (readonly [id: string | undefined, answeredAt: number | undefined])[];
  readonly share: number;
  readonly pausedUntil: number;
}

/** The same, read from a snapshot: nothing is in flight any more. */
export interface RestoredCount extends Count {
  readonly entries: readonly (readonly [id: string, answeredAt: number])[];
}

/** One moment, on the clock of a process and as a time of day. */
export interface Moment {
  readonly now: number;
  readonly timeOfDay: number;
}

// A call that was in flight when its process ended can still arrive, for as long as packets live in a slow network.
const arrivesWithinMs = 5_000;
// Nothing that was lost, and no pause, reaches further ahead.
const furthestAheadMs = 3_600_000;

export function takeSnapshot(
  { entries, share, pausedUntil }: Count,
  { now, timeOfDay }: Moment,
): RateLimiterSnapshot {
  const onThatDay = (time: number): number => Math.ceil(timeOfDay + (time - now));
  const ids = entries.flatMap(([id]) => (id === undefined ? [] : [id]));
  return {
    version: 1,
    takenAt: timeOfDay,
    answeredAt: entries.map(([, answeredAt = now + arrivesWithinMs]) => onThatDay(answeredAt)),
    ...(ids.length > 0 ? { ids } : {}),
    ...(pausedUntil > now ? { pausedUntil: onThatDay(pausedUntil) } : {}),
    share,
  };
}

/** Carries the count over. A clock that was set back in between counts as if no time had passed. */
export function restore(snapshot: RateLimiterSnapshot, { now, timeOfDay }: Moment): RestoredCount {
  const elapsedMs = Math.max(0, timeOfDay - snapshot.takenAt);
  const here = (time: number): number => now - elapsedMs + (time - snapshot.takenAt);
  return {
    // Without a store there are no ids; a store that is new to these calls takes any that are the same each time.
    entries: snapshot.answeredAt.map((time, index) => [
      snapshot.ids?.[index] ?? `snapshot:${snapshot.takenAt}:${index}`,
      here(time),
    ]),
    share: snapshot.share,
    pausedUntil: snapshot.pausedUntil === undefined ? -Infinity : here(snapshot.pausedUntil),
  };
}

/** Checks what is given as a snapshot, as it comes from a file: garbage is a `ConfigurationError` that names the field. */
export function readSnapshot(value: unknown): RateLimiterSnapshot {
  const given: Partial<Record<keyof RateLimiterSnapshot, unknown>> = isObject(value) ? value : {};
  const { version, takenAt, answeredAt, ids, pausedUntil, share } = given;
  // Of a list that is none, or a time that is none, the field itself is named first.
  const isInReach = (time: unknown): boolean =>
    isTime(time) && isTime(takenAt) && time <= takenAt + furthestAheadMs;
  const holds = {
    "": isObject(value),
    ".version": version === 1,
    ".takenAt": isTime(takenAt),
    ".answeredAt": isListOf(answeredAt, isInReach),
    ".ids": ids === undefined || (isListOf(ids, isText) && ids.length === (answeredAt as unknown[])?.length),
    ".pausedUntil": pausedUntil === undefined || isInReach(pausedUntil),
    ".share": isTime(share) && share > 0 && share <= 1,
  };
  for (const [field, isRight] of Object.entries(holds)) {
    if (isRight) continue;
    throw new ConfigurationError(
      `\`snapshot${field}\` must be what \`limiter.snapshot()\` gives. Leave it out to start with an empty count.`,
    );
  }
  // True: each field has been checked.
  return { version, takenAt, answeredAt, ids, pausedUntil, share } as RateLimiterSnapshot;
}

/** Not by `every`, which would pass over holes, however many. */
function isListOf(value: unknown, holds: (item: unknown) => boolean): value is unknown[] {
  if (!Array.isArray(value)) return false;
  for (const item of value) if (!holds(item)) return false;
  return true;
}

function isText(value: unknown): boolean {
  return typeof value === "string";
}

function isTime(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value < Infinity;
}
