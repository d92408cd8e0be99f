import { isAudienceError } from "audience-sdk";
import type { Departure } from "../records.ts";
import type { World } from "../world.ts";

const longestPauseMs = 3_600_000;

/** No window of the service gets more than its limit, and a refusal's wait is kept. */
export function checkLimits(world: World): string[] {
  return [...checkWindows(world), ...checkRefusals(world), ...checkPauses(world), ...checkTimes(world)];
}

function checkWindows({ log, service }: World): string[] {
  const arrivals = log.departures
    .flatMap(({ request }) => (request ? [request.arrivedAtMs] : []))
    .toSorted((a, b) => a - b);
  return (service.rateLimits?.windows ?? []).flatMap(({ limit, intervalMs }) => {
    const over = arrivals.findIndex((at, index) => arrivals[index + limit]! - at < intervalMs);
    return over < 0 ? [] : [`more than ${limit} requests within ${intervalMs} ms, from ${arrivals[over]}`];
  });
}

/** Alone behind its IP, a client is never refused. */
function checkRefusals({ log, service }: World): string[] {
  if (!service.rateLimits || log.isVisitedByStrangers) return [];
  const { rateLimitStatus = 429 } = service.variants;
  if (rateLimitStatus !== 429) return [];
  const refused = log.departures.filter(
    ({ status, request }) => status === 429 && request?.fault === undefined,
  );
  return refused.length === 0 ? [] : [`${refused.length} requests were refused for the rate`];
}

/** After a 429 no request leaves the same limiter until its wait is over; without a limiter, no retry of the call. */
function checkPauses({ log, service }: World): string[] {
  const refused = log.departures.filter(({ status }) => status === 429);
  return refused.flatMap((departure) => {
    const { endedAt = 0, call } = departure;
    const waitMs = Math.min(departure.waitMs ?? 0, longestPauseMs);
    const isInPause = (other: Departure) => other.at > endedAt && other.at < endedAt + waitMs;
    const others = service.rateLimits ? log.departures : call?.departures;
    const early = others?.find(isInPause);
    if (!early) return [];
    return [
      `a request left at ${early.at}, in the pause of ${waitMs} ms from ${endedAt} (${early.call?.tag})`,
    ];
  });
}

/** An aborted call rejects at once, and none ends after its deadline. */
function checkTimes({ log }: World): string[] {
  return log.calls.flatMap((call) => {
    const { tag, abortedAt, settledAt, startedAt, options, error, run } = call;
    if (settledAt === undefined) return [];
    const { deadlineMs = Infinity } = options;
    // What came in time is then recorded for the runs of its process, which takes the time of their checkpoints.
    const { endedAt = Infinity } = call.departures.at(-1) ?? {};
    if (error === undefined && endedAt <= Math.min(startedAt + deadlineMs, abortedAt ?? Infinity)) return [];
    const isLate = !run && settledAt > startedAt + deadlineMs + 1;
    const isAborted = isAudienceError(error) && error.code === "aborted";
    return [
      ...(isLate
        ? [`${tag} ended ${settledAt - startedAt} ms after its begin, its deadline is ${deadlineMs}`]
        : []),
      ...(abortedAt !== undefined && settledAt > abortedAt
        ? [
            `${tag} ended ${settledAt - abortedAt} ms after it was aborted (${isAborted ? "aborted" : String(error)})`,
          ]
        : []),
    ];
  });
}
