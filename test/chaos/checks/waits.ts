import { isAudienceError } from "audience-sdk";
import type { CallRecord, Departure, Log } from "../records.ts";
import type { World } from "../world.ts";
import { describe } from "./outcomes.ts";

const longestMs = 2_000;

/** What others may use so that none of them waits longer: a tenth of each documented window. */
const shares = [
  { limit: 1, intervalMs: 1_000 },
  { limit: 10, intervalMs: 60_000 },
  { limit: 100, intervalMs: 3_600_000 },
];

/** Beside bulk and snapshots no other call waits long for the rate limit, as long as the others keep to their share. */
export function checkWaits(world: World): string[] {
  const { log } = world;
  if (!mayPromise(world)) return [];
  const refusedAt = Math.min(...log.departures.filter(isRefused).map(({ at }) => at));
  const demand = log.calls.filter(isLive).flatMap(demandOf);
  return log.calls.flatMap((call) => {
    const waitMs = waitOf(call);
    const until = call.startedAt + longestMs;
    if (waitMs === undefined || waitMs <= longestMs || !isLive(call) || refusedAt < until) return [];
    const isModest = shares.every(({ limit, intervalMs }) => {
      const beside = demand.filter((at) => at > call.startedAt - intervalMs && at < until);
      return beside.length <= limit;
    });
    return isModest && !waitsInOrder(log, call) ? [`${describe(call)} waited ${waitMs} ms beside bulk`] : [];
  });
}

function mayPromise({ log, service, hasRedisFailed }: World): boolean {
  const isDocumented = service.rateLimits?.windows?.[0]?.limit === 10;
  return isDocumented && !hasRedisFailed && !log.isVisitedByStrangers;
}

/** A refusal halves the limits, and pauses everybody. */
function isRefused({ status }: Departure): boolean {
  return status === 429 || status === 403 || status === 503;
}

function isLive({ options, run }: CallRecord): boolean {
  return run === undefined && (options.priority ?? 5) < 9;
}

/** The times at which a call wants a permit. */
function demandOf({ startedAt, departures }: CallRecord): number[] {
  const [first, ...retries] = departures.map(({ at }) => at);
  const isQueued = first !== undefined && first > startedAt + 1;
  return [startedAt, ...(isQueued ? [first] : []), ...retries];
}

/** How long it waited for its one permit, or would have. */
function waitOf({ departures, queuedMs, error }: CallRecord): number | undefined {
  if (isAudienceError(error) && error.code === "rate_limit_wait" && departures.length === 0)
    return error.waitMs;
  return departures.length === 1 ? queuedMs : undefined;
}

/** An earlier write to its contact goes first, however long it takes. */
function waitsInOrder({ calls }: Log, { client, startedAt, facts }: CallRecord): boolean {
  return calls.some(
    (other) =>
      other.client === client &&
      other.startedAt <= startedAt &&
      (other.settledAt ?? Infinity) > startedAt &&
      other.facts.contacts.some((name) => facts.contacts.includes(name)),
  );
}
