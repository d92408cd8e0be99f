import type { ConsentWrite } from "../consent.ts";
import { ConfigurationError } from "../errors.ts";
import { judge, type JudgedChannel, optIns } from "./consent-check.ts";
import type { ConsentSnapshot } from "./consent-snapshot.ts";
import { type Decision, lastSent, statementsOf } from "./statements.ts";
import type { Target } from "./target.ts";

const dayMs = 86_400_000;

/** Before a run: throws if the snapshot is too old, of another target, or shows no consent. */
export async function checkSnapshot(
  snapshot: ConsentSnapshot,
  target: Target,
  signal: AbortSignal,
): Promise<void> {
  const { readAt } = snapshot;
  if (Math.abs(Date.now() - readAt.getTime()) > dayMs)
    throw new ConfigurationError(
      `The snapshot was read at ${readAt.toISOString()}, over a day from now: many may have unsubscribed since. ` +
        "Read a new one with readSnapshot.",
    );
  await snapshot.checkFor(target, signal);
}

/** Whether the snapshot shows a refusal of an opt-in of the write, and the channels that it does not show. */
export function judgeBySnapshot(
  snapshot: ConsentSnapshot,
  write: ConsentWrite,
  before: readonly Decision[],
): { readonly isRefused: boolean; readonly missing: readonly string[] } {
  const channels = channelsWithOptIn(write, before);
  const judgements = snapshot.shownOf(write.contacts).map((each) => judge(each, write, channels));
  return {
    isRefused: judgements.some(({ isRefused }) => isRefused),
    missing: judgements.flatMap(({ missing }) => missing),
  };
}

/** The channels that the write subscribes, or leaves to the service. A refusal that is the row's own is none (D168). */
function channelsWithOptIn(write: ConsentWrite, before: readonly Decision[]): JudgedChannel[] {
  return statementsOf(write).flatMap((each) => {
    const { channel, status } = each;
    const own = lastSent(before, each);
    if ((status !== "" && !optIns.includes(status)) || own === "TRUE") return [];
    return [{ channel, wasSubscribed: false, own }];
  });
}
