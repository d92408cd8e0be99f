import { type CountedPermit, SlidingWindowLog, widenedMs } from "../rate-limiter/sliding-window-log.ts";
import type { Contact } from "./redis-connection.ts";

/**
 * The permits of this process, and those of the others at the last reply of Redis. It gives only their number in each window:
 * they are taken to have been responded to evenly over the time in which they can have been.
 */
export function knownLog(own: SlidingWindowLog, contact: Contact | undefined, now: number): SlidingWindowLog {
  const permits = contact ? permitsOfOthers(own, contact) : [];
  return new SlidingWindowLog(own.windows, [...own.permits(now), ...permits]);
}

function permitsOfOthers({ windows }: SlidingWindowLog, { at, reply, own }: Contact): CountedPermit[] {
  const byOthers = reply.usedByOthers.map((used, index) => used - own.usedByOthers[index]!);
  const byLast = reply.used.map((used, index) => used - own.used[index]! - byOthers[index]!);
  const shortestFirst = [...windows.entries()].toSorted(([, a], [, b]) => a.intervalMs - b.intervalMs);
  const permits: CountedPermit[] = [];
  for (const [isLast, used] of [
    [false, byOthers],
    [true, byLast],
  ] as const) {
    let [youngestMs, counted] = [0, 0];
    for (const [index, { intervalMs }] of shortestFirst) {
      const older = used[index]! - counted;
      for (let permit = 0; permit < older; permit += 1) {
        const respondedAt = at - youngestMs - ((permit + 0.5) / older) * (intervalMs - youngestMs);
        permits.push({ isLast, takenAt: respondedAt, respondedAt });
      }
      counted = Math.max(counted, used[index]!);
      youngestMs = widenedMs(intervalMs);
    }
  }
  return permits;
}
