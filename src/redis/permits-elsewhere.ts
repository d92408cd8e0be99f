import type { CountedPermit, SlidingWindowLog } from "../rate-limiter/sliding-window-log.ts";
import type { ScriptReply } from "./permit-script.ts";

/** The permits of other processes: what Redis has counted, less those of this process, spread evenly between two ages. */
export function permitsElsewhere(reply: ScriptReply, own: SlidingWindowLog, now: number): CountedPermit[] {
  const oldestFirst = reply.younger.toSorted(([age], [otherAge]) => otherAge - age);
  return [false, true].flatMap((isLast) => {
    let [untilMs, older] = [Infinity, Infinity];
    return [...oldestFirst, [0, 0, 0] as const].flatMap(([ageMs, all, byOthers]) => {
      const counted = (isLast ? all - byOthers : byOthers) - own.usedBy(isLast, ageMs, now);
      // Permits of this process that have passed the age meanwhile are nobody else's: at a greater age they are taken off.
      const younger = Math.max(0, Math.min(counted, older));
      const [count, spreadMs] = [older - younger, untilMs - ageMs];
      [untilMs, older] = [ageMs, younger];
      // What is older than all windows does not count.
      if (spreadMs === Infinity) return [];
      return Array.from({ length: count }, (_, index) => {
        const respondedAt = now - ageMs - ((index + 0.5) / count) * spreadMs;
        return { isLast, takenAt: respondedAt, respondedAt, id: "" };
      });
    });
  });
}
