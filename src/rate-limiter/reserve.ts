import type { RateLimitWindow } from "../errors.ts";
import type { SlidingWindowLog } from "./sliding-window-log.ts";

/** Calls of priority 9 are counted apart, and leave room for the others, of priorities 0 to 8. */
export const lastPriority = 9;

/** What a class of calls may use: those of priority 9, or the others. */
export interface Allowance {
  /** The most permits that may be in use, by all calls, for it to get one: for each window. */
  readonly limits: readonly number[];
  /** Set for priority 9 while the others call: the second half of it goes evenly. */
  readonly ofLongest: Share | undefined;
}

/** What priority 9 may use of the longest window. */
export interface Share {
  readonly permits: number;
  /** How long a permit counts in it. */
  readonly countedMs: number;
}

/** So many leave together where priority 9 goes evenly: as many as the second allows, so that workers are not idle. */
export const permitsPerSpacing = 10;
/** In so many steps the time ahead is looked at for the permits that come back in it. */
export const spacingSteps = 24;
/** It goes no slower than at a tenth of the even pace, so that a wait is never much longer than it proves to be. */
export const longestSpacings = 10;

/**
 * The permits of each window that priority 9 leaves to the others, those that they use included: a share of it, or what
 * they used within the last window and a tenth more. One permit always remains for priority 9.
 */
export function keptPermits(
  limits: readonly number[],
  usedByOthers: readonly number[],
  reserve: number,
): number[] {
  if (reserve === 0) return limits.map(() => 0);
  return limits.map((limit, index) => {
    // A product such as 0.07 · 100 is not exact.
    const share = Math.ceil(reserve * limit - 1e-9);
    const demand = Math.ceil((usedByOthers[index]! * 11) / 10);
    return Math.min(limit - 1, Math.max(share, demand));
  });
}

/** `limits` are those in force, one for each window; `reserve` is 0 for a class that leaves nothing. */
export function allowanceOf(
  log: SlidingWindowLog,
  limits: readonly number[],
  reserve: number,
  now: number,
): Allowance {
  if (reserve === 0) return { limits, ofLongest: undefined };
  const usedByOthers = log.usedByOthers(now);
  const kept = keptPermits(limits, usedByOthers, reserve);
  const longest = log.windows.indexOf(longestOf(log.windows));
  const share = { permits: limits[longest]! - kept[longest]!, countedMs: log.countedMs[longest]! };
  return {
    limits: limits.map((limit, index) => limit - Math.max(0, kept[index]! - usedByOthers[index]!)),
    ofLongest: usedByOthers[longest] === 0 ? undefined : share,
  };
}

/**
 * Ten permits are given in this time, 0 for no pace. Once half of the share is used, the rest goes evenly, so that permits come
 * back all the time: at the highest pace that what is left and what comes back can bear. `usedWithin` counts the permits of
 * priority 9 within so many milliseconds.
 */
export function spacingMs(share: Share | undefined, usedWithin: (ms: number) => number): number {
  if (!share || usedWithin(share.countedMs) < share.permits / 2) return 0;
  const { permits, countedMs } = share;
  let spacing = 0;
  for (let step = 1; step <= spacingSteps; step += 1) {
    const aheadMs = (step * countedMs) / spacingSteps;
    const left = Math.max(0, permits - usedWithin(countedMs - aheadMs));
    spacing = Math.max(spacing, (permitsPerSpacing * aheadMs) / left);
  }
  return Math.min(spacing, (longestSpacings * permitsPerSpacing * countedMs) / permits);
}

function longestOf(windows: readonly RateLimitWindow[]): RateLimitWindow {
  return windows.reduce((longest, window) => (window.intervalMs > longest.intervalMs ? window : longest));
}

function spacingNow({ ofLongest }: Allowance, log: SlidingWindowLog, now: number): number {
  return spacingMs(ofLongest, (ms) => log.usedByLast(ms, now));
}

export function availableTo(allowance: Allowance, log: SlidingWindowLog, now: number): number {
  const available = log.available(now, allowance.limits);
  const { ofLongest } = allowance;
  if (!ofLongest) return available;
  const withinMs = spacingNow(allowance, log, now);
  if (withinMs === 0)
    return Math.min(available, Math.ceil(ofLongest.permits / 2) - log.usedByLast(ofLongest.countedMs, now));
  return Math.min(available, Math.max(0, permitsPerSpacing - log.takenByLast(now - withinMs).length));
}

/** The time until a permit is available to a class, in milliseconds; what is in flight is responded to now at the soonest. */
export function availableToInMs(allowance: Allowance, log: SlidingWindowLog, now: number): number {
  const withinMs = spacingNow(allowance, log, now);
  const taken = log.takenByLast(now - withinMs);
  const spacedMs = (taken.at(-permitsPerSpacing) ?? -Infinity) + withinMs - now;
  return Math.max(0, spacedMs, ...log.availableInMs(now, allowance.limits));
}

/** The window for which the call at `position` waits; undefined if it need not wait for one. */
export function limitingWindow(
  allowance: Allowance,
  log: SlidingWindowLog,
  position: number,
  now: number,
): RateLimitWindow | undefined {
  const withinMs = spacingNow(allowance, log, now);
  const isSpaced = withinMs > 0 && log.takenByLast(now - withinMs).length + position > permitsPerSpacing;
  return (
    log.limitingWindow(position, now, allowance.limits) ?? (isSpaced ? longestOf(log.windows) : undefined)
  );
}
