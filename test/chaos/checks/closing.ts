import { isAudienceError } from "audience-sdk";
import type { World } from "../world.ts";

/** close() ends every call of its client, and nothing else is left: no promise, no rejection. */
export function checkClosing({ log, processes }: World): string[] {
  const problems = log.unhandled.map((error) => `an unhandled rejection: ${String(error)}`);
  const lists = new Set(log.lists.map(({ call }) => call));
  for (const { client, drain, startedAt, endedAt } of log.closes) {
    if (endedAt === undefined) continue;
    for (const call of log.calls) {
      const { client: owner, tag, run, error, startedAt: calledAt, settledAt } = call;
      if (owner !== client) continue;
      if (settledAt === undefined && !lists.has(call))
        problems.push(`${tag} did not end with close() of its client`);
      if (!lists.has(call) && calledAt <= startedAt && settledAt !== undefined && settledAt > endedAt)
        problems.push(`${tag} ended after close() of its client`);
      const isClosed = isAudienceError(error) && error.code === "closed";
      // Further rows of a run, and further pages of a list, are new calls.
      const isOneCall = !run && !lists.has(call);
      if (isClosed && drain && isOneCall && calledAt < startedAt) problems.push(`${tag} was not drained`);
      if (!isClosed && calledAt > endedAt) problems.push(`${tag} was taken by a closed client`);
    }
  }
  for (const process of processes) {
    const usage = process?.limiter?.usage();
    if (usage && usage.queued + usage.inFlight > 0) {
      problems.push(
        `${usage.queued} calls wait and ${usage.inFlight} are in flight in the limiter at the end`,
      );
    }
  }
  return problems;
}
