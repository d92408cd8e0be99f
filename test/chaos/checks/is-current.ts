import type { CallRecord } from "../records.ts";
import type { World } from "../world.ts";
import { describe } from "./attempt.ts";

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
