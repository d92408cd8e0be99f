import type { AdaptiveRate } from "../rate-limiter/adaptive-rate.ts";
import { arrivalGraceMs, type SlidingWindowLog } from "../rate-limiter/sliding-window-log.ts";
import type { Contact } from "./redis-connection.ts";

/**
 * The limits of a process that goes on without Redis: its share of each, or less after a 429. As long as permits from before
 * the outage may count, it is no more than its own ones and its share of what was left at the last contact (D133).
 */
export function localLimits(
  { windows, countedMs }: SlidingWindowLog,
  contact: Contact | undefined,
  share: number,
  rate: AdaptiveRate,
  now: number,
): number[] {
  const shares = windows.map(({ limit }, index) => {
    const countsUntil = (contact?.at ?? -Infinity) + countedMs[index]! + arrivalGraceMs;
    if (!contact || now >= countsUntil) return Math.floor(limit * share);
    const left = Math.max(0, limit - contact.reply.used[index]!);
    return Math.floor(Math.min(limit * share, contact.own.used[index]! + left * share));
  });
  const slowed = rate.limitsOf(windows.map((window, index) => ({ ...window, limit: shares[index]! })));
  return slowed.map((limit, index) => Math.min(limit, shares[index]!));
}
