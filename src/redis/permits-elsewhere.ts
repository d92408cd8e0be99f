import type { CountedPermit, SlidingWindowLog } from "../rate-limiter/sliding-window-log.ts";
import type { ScriptReply } from "./permit-script.ts";

/** So many permits of other processes, all of priority 9 or none, were between two ages when Redis replied. */
export interface PermitsElsewhere {
  readonly isLast: boolean;
  readonly count: number;
  readonly fromMs: number;
  readonly untilMs: number;
}

/** What Redis has counted, less the permits of this process. */
export function countElsewhere(reply: ScriptReply, own: SlidingWindowLog, now: number): PermitsElsewhere[] {
  const oldestFirst = reply.younger.toSorted(([age], [otherAge]) => otherAge - age);
  return [false, true].flatMap((isLast) => {
    let [untilMs, older] = [Infinity, Infinity];
    const groups = [...oldestFirst, [0, 0, 0] as const].map(([ageMs, all, byOthers]) => {
      const counted = (isLast ? all - byOthers : byOthers) - own.usedBy(isLast, ageMs, now);
      // Permits of this process that have passed the age meanwhile are nobody else's: at a greater age they are taken off.
      const younger = Math.max(0, Math.min(counted, older));
      const group = { isLast, count: older - younger, fromMs: ageMs, untilMs };
      [untilMs, older] = [ageMs, younger];
      return group;
    });
    // The first group is older than all windows.
    return groups.slice(1);
  });
}

/** Spreads the permits of other processes evenly between the two ages. */
export function spreadElsewhere(
  { isLast, count, fromMs, untilMs }: PermitsElsewhere,
  repliedAt: number,
): CountedPermit[] {
  return Array.from({ length: count }, (_, index) => {
    const respondedAt = repliedAt - fromMs - ((index + 0.5) / count) * (untilMs - fromMs);
    return { isLast, takenAt: respondedAt, respondedAt, id: "" };
  });
}
