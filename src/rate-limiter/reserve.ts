import type { RateLimitWindow } from "../errors.ts";
import type { SlidingWindowLog } from "./sliding-window-log.ts";

/** A class of calls: those of priority 9 are counted apart, and leave room for the others. */
export interface PermitClass {
  /** Priority 9. */
  readonly isLast: boolean;
  /** The share of each window that it then leaves to the others: from 0, which leaves nothing, to 0.9. */
  readonly reserve: number;
}

export const lastPriority = 9;

/** The calls of priorities 0 to 8. */
export const others: PermitClass = { isLast: false, reserve: 0 };

export function classOf(priority: number, reserve: number): PermitClass {
  return priority === lastPriority ? { isLast: true, reserve } : others;
}

export function isOfClass(one: PermitClass, other: PermitClass): boolean {
  return one.isLast === other.isLast && one.reserve === other.reserve;
}

/** What a class may use. */
export interface Allowance {
  /** The most permits that may be in use, by all calls, for it to get one: for each window. */
  readonly limits: readonly number[];
  /** It gets at most `permitsPerSpacing` in this time: 0 if it need not go evenly. */
  readonly spacingMs: number;
}

/** So many leave together where priority 9 goes evenly: as many as the second allows, so that workers are not idle. */
export const permitsPerSpacing = 10;

/**
 * The permits of each window that priority 9 leaves to the others, those that they use included: a share of it, or what
 * they used within the last window and a tenth more. One permit always remains for priority 9.
 */
export function keptPermits(
  limits: readonly number[],
  usedByOthers: readonly number[],
  reserve: number,
): number[] {
  return limits.map((limit, index) => {
    // A product such as 0.07 · 100 is not exact.
    const share = Math.ceil(reserve * limit - 1e-9);
    const demand = Math.ceil((usedByOthers[index]! * 11) / 10);
    return Math.min(limit - 1, Math.max(share, demand));
  });
}

/** `limits` are those in force, one for each window. */
export function allowanceOf(
  { isLast, reserve }: PermitClass,
  log: SlidingWindowLog,
  limits: readonly number[],
  now: number,
): Allowance {
  if (!isLast || reserve === 0) return { limits, spacingMs: 0 };
  const usedByOthers = log.usedByOthers(now);
  const kept = keptPermits(limits, usedByOthers, reserve);
  return {
    limits: limits.map((limit, index) => limit - Math.max(0, kept[index]! - usedByOthers[index]!)),
    spacingMs: spacingMs(log, limits, kept, usedByOthers),
  };
}

/** While the others call, priority 9 goes evenly over the longest window, so that permits come back all the time. */
function spacingMs(
  { windows }: SlidingWindowLog,
  limits: readonly number[],
  kept: readonly number[],
  usedByOthers: readonly number[],
): number {
  const longest = windows.indexOf(longestOf(windows));
  if (usedByOthers[longest] === 0) return 0;
  return (permitsPerSpacing * windows[longest]!.intervalMs) / (limits[longest]! - kept[longest]!);
}

function longestOf(windows: readonly RateLimitWindow[]): RateLimitWindow {
  return windows.reduce((longest, window) => (window.intervalMs > longest.intervalMs ? window : longest));
}

export function availableTo(
  { limits, spacingMs: withinMs }: Allowance,
  log: SlidingWindowLog,
  now: number,
): number {
  const available = log.available(now, limits);
  if (withinMs === 0) return available;
  return Math.min(available, Math.max(0, permitsPerSpacing - log.takenByLast(now - withinMs).length));
}

/** The time until a permit is available to a class, in milliseconds; what is in flight is responded to now at the soonest. */
export function availableToInMs(
  { limits, spacingMs: withinMs }: Allowance,
  log: SlidingWindowLog,
  now: number,
): number {
  const taken = log.takenByLast(now - withinMs);
  const spacedMs = (taken.at(-permitsPerSpacing) ?? -Infinity) + withinMs - now;
  return Math.max(0, spacedMs, ...log.availableInMs(now, limits));
}

/** The window for which the call at `position` waits; undefined if it need not wait for one. */
export function limitingWindow(
  { limits, spacingMs: withinMs }: Allowance,
  log: SlidingWindowLog,
  position: number,
  now: number,
): RateLimitWindow | undefined {
  const isSpaced = withinMs > 0 && log.takenByLast(now - withinMs).length + position > permitsPerSpacing;
  return log.limitingWindow(position, now, limits) ?? (isSpaced ? longestOf(log.windows) : undefined);
}
