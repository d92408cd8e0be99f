import type { CallRecord } from "../records.ts";
import type { World } from "../world.ts";
import { describe } from "./outcomes.ts";

/** Writes of one client to one contact leave in call order, each after the one before has ended. */
export function checkOrder({ log }: World): string[] {
  const problems: string[] = [];
  const lastByName = new Map<string, CallRecord[]>();
  for (const call of log.calls) {
    for (const name of call.facts.contacts) {
      const key = `${call.client} ${name}`;
      const earlier = lastByName.get(key) ?? [];
      for (const before of earlier) {
        const problem = areCalledInOrder(before, call) ? isOutOfOrder(before, call) : isBeside(before, call);
        if (problem) problems.push(`${describe(call)}: ${problem} ${describe(before)}, to ${name}`);
      }
      lastByName.set(key, [...earlier, call]);
    }
  }
  return [...new Set(problems)];
}

/** A row is written when its turn comes: those with a refusal go first. */
function areCalledInOrder({ key, run }: CallRecord, after: CallRecord): boolean {
  return (!run && !after.run) || (run === after.run && key === after.key);
}

/** A row whose write is made anew, as a refusal has become known, takes its place in the order once more. */
function isBeside(one: CallRecord, other: CallRecord): string | undefined {
  const areBeside = one.departures.some((each) =>
    other.departures.some(({ at, endedAt = at }) => each.at < endedAt && at < (each.endedAt ?? each.at)),
  );
  return areBeside ? "left beside" : undefined;
}

function isOutOfOrder(before: CallRecord, after: CallRecord): string | undefined {
  const [first] = after.departures;
  const last = before.departures.at(-1);
  if (!first || !last) return undefined;
  if (last.at > first.at) return "left before the last request of";
  // A request that was cut when its call was aborted, or its time was over, has no end here.
  if (last.endedAt !== undefined && last.endedAt > first.at) return "left before the response of";
  // A row has its result once it is recorded: nothing of it can overtake the next write by then.
  const endedAt = before.run ? last.endedAt : before.settledAt;
  if (endedAt !== undefined && endedAt > first.at) return "left before the end of";
  const lastArrival = last.request?.arrivedAtMs;
  const arrival = first.request?.arrivedAtMs;
  if (lastArrival !== undefined && arrival !== undefined && lastArrival > arrival) return "arrived before";
  return undefined;
}

const longestAgeMs = 1_000;

/** `isCurrent` is asked within a second before each sending; no row is sent after a no. */
export function checkIsCurrent({ log }: World): string[] {
  return log.calls.flatMap((call) =>
    call.run?.hasIsCurrent && call.input
      ? problemsOf(call).map((problem) => `${describe(call)} ${problem}`)
      : [],
  );
}

function problemsOf({ answers, departures }: CallRecord): string[] {
  const yes = answers.filter(({ isCurrent }) => isCurrent);
  const no = answers.find(({ isCurrent }) => !isCurrent);
  const unasked = departures.filter(
    ({ at }) => !yes.some((answer) => answer.at <= at && answer.askedAt >= at - longestAgeMs),
  );
  return [
    ...unasked.map(({ at }) => `was sent at ${at} without a recent answer that it is current`),
    ...(no && departures.some(({ at }) => at > no.at) ? ["was sent after it was no longer current"] : []),
  ];
}
