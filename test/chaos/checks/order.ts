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
        const problem = isOutOfOrder(before, call);
        if (problem) problems.push(`${describe(call)}: ${problem} ${describe(before)}, to ${name}`);
      }
      lastByName.set(key, [...earlier, call]);
    }
  }
  return [...new Set(problems)];
}

function isOutOfOrder(before: CallRecord, after: CallRecord): string | undefined {
  const [first] = after.departures;
  const last = before.departures.at(-1);
  if (!first || !last) return undefined;
  if (last.at > first.at) return "left before the last request of";
  // A request that was cut when its call was aborted, or its time was over, has no end here.
  if (last.endedAt !== undefined && last.endedAt > first.at) return "left before the response of";
  // After its response a row's call still asks `isCurrent`: nothing of it can overtake the next write.
  const endedAt = before.run?.hasIsCurrent ? last.endedAt : before.settledAt;
  if (endedAt !== undefined && endedAt > first.at) return "left before the end of";
  const lastArrival = last.request?.arrivedAtMs;
  const arrival = first.request?.arrivedAtMs;
  if (lastArrival !== undefined && arrival !== undefined && lastArrival > arrival) return "arrived before";
  return undefined;
}

const longestAgeMs = 1_000;

/** `isCurrent` is asked within a second before each sending, and after the response; no row is sent after a no. */
export function checkIsCurrent({ log }: World): string[] {
  return log.calls.flatMap((call) =>
    call.run?.hasIsCurrent && call.input
      ? problemsOf(call).map((problem) => `${describe(call)} ${problem}`)
      : [],
  );
}

function problemsOf({ answers, departures, error, settledAt }: CallRecord): string[] {
  const yes = answers.filter(({ isCurrent }) => isCurrent);
  const no = answers.find(({ isCurrent }) => !isCurrent);
  const unasked = departures.filter(
    ({ at }) => !yes.some((answer) => answer.at <= at && answer.askedAt >= at - longestAgeMs),
  );
  const { endedAt = Infinity } = departures.at(-1) ?? {};
  const isAskedAfter = yes.some(({ askedAt }) => askedAt >= endedAt);
  return [
    ...unasked.map(({ at }) => `was sent at ${at} without a recent answer that it is current`),
    ...(no && departures.some(({ at }) => at > no.at) ? ["was sent after it was no longer current"] : []),
    ...(settledAt !== undefined && error === undefined && !isAskedAfter
      ? ["resolved, and was not asked for after its response"]
      : []),
  ];
}
