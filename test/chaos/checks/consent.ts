import { isAudienceError } from "audience-sdk";
import { personOf } from "../inputs.ts";
import type { CallRecord, Log, RunRecord } from "../records.ts";
import type { World } from "../world.ts";
import { describe } from "./attempt.ts";

/** The consent of a write that was applied, as the contract counts it. A status that is not known equals none. */
interface Written {
  readonly by: CallRecord;
  readonly at: number;
  readonly status: string;
}

/** No row overrides a consent that was written after its run began, also not in a later life of the run. */
export function checkConsent(world: World): string[] {
  const { log } = world;
  const overridden = log.calls.flatMap((call) => {
    const { run, departures } = call;
    const first = departures.find(({ request }) => request?.applied === true);
    const problems = checkIsCurrent(call);
    // An event changes no consent; any other row leaves what it does not state to the service.
    if (!run || !first || call.input?.kind === "event") return problems;
    for (const [channel, { by, at, status }] of bindingConsents(world, call, first.at)) {
      const own = call.facts.consent[channel] ?? "what the service decides";
      if (own !== status)
        problems.push(
          `${describe(call)} wrote ${channel} ${own}, after ${describe(by)} wrote ${status} at ${at}`,
        );
    }
    return problems;
  });
  return [...overridden, ...log.runs.flatMap((run) => checkReasons(world, run))];
}

/** The latest consent in each channel that others of this client wrote, and that binds the row. */
function bindingConsents(world: World, row: CallRecord, before: number): Map<string, Written> {
  const run = row.run!;
  const latest = new Map<string, Written>();
  for (const other of world.log.calls) {
    if (other.run === run || !sharesName(other, row) || !isBound(world, other, row)) continue;
    const last = other.departures.findLast(({ request }) => request?.applied === true);
    if (!last || last.at >= before) continue;
    for (const [channel, status] of Object.entries(writtenBy(other))) {
      const known = latest.get(channel);
      if (!known || known.at <= last.at) latest.set(channel, { by: other, at: last.at, status });
    }
  }
  return latest;
}

export function sharesName(one: CallRecord, other: CallRecord): boolean {
  return one.facts.contacts.some((name) => other.facts.contacts.includes(name));
}

/** Whether the other call's consent came after the run began, or during the life of it that this one continues. */
function isBound({ log }: World, other: CallRecord, row: CallRecord): boolean {
  const run = row.run!;
  const { at = -1, endedAt = at } = other.departures.at(-1) ?? {};
  // A write that is under way when the run begins counts, too: its client is told of its end.
  if (other.client === run.client && endedAt > run.startedAt) return true;
  const lives = earlierLives(log.runs, run);
  return lives.some((life) => wasRecorded(log, other, life));
}

/** Whether a checkpoint surely recorded the last request of a call that is none of its own rows. */
export function wasRecorded(log: Log, { client, run, departures }: CallRecord, life: RunRecord): boolean {
  const { at = -1 } = departures.at(-1) ?? {};
  return (
    client === life.client &&
    run?.book !== life.book &&
    // Written while the checkpoint was open; after a kill nothing of the client is written.
    at > (life.openedAt ?? Infinity) &&
    at < lastActive(log, life)
  );
}

/** Until when the run was surely not about to end. */
function lastActive({ calls }: Log, run: RunRecord): number {
  if (run.wasKilled) return Infinity;
  return Math.max(...calls.filter((call) => call.run === run).map(({ startedAt }) => startedAt));
}

/** The lives of the same run: it has not ended in them. */
function earlierLives(runs: readonly RunRecord[], run: RunRecord): RunRecord[] {
  if (run.book === undefined) return [];
  const before = runs.slice(0, runs.indexOf(run)).filter(({ book }) => book === run.book);
  const ended = before.findLastIndex(({ summary, wasLeft }) => summary !== undefined && !wasLeft);
  return before.slice(ended + 1);
}

/** The consent that an applied call has written. */
export function writtenBy({ facts, error, value, settledAt }: CallRecord): Readonly<Record<string, string>> {
  if (!facts.leavesEmailToService) return facts.consent;
  const isKnown = settledAt !== undefined && error === undefined;
  const { contact } = Object(value) as { contact?: { action: string } };
  const email = isKnown ? (contact?.action === "created" ? "NON_SUBSCRIBED" : "SUBSCRIBED") : "unknown";
  return { email, ...facts.consent };
}

/** `isCurrent` is asked before each sending, and no row is sent after a no. */
function checkIsCurrent({ run, answers, departures, tag }: CallRecord): string[] {
  if (!run?.hasIsCurrent) return [];
  const yes = answers.filter((answer) => answer).length;
  const isStopped = answers.indexOf(false) >= 0 && answers.indexOf(false) < answers.length - 1;
  return [
    ...(departures.length > yes
      ? [`${tag} was sent ${departures.length} times with ${yes} answers that it is current`]
      : []),
    ...(isStopped ? [`${tag} went on after it was no longer current`] : []),
  ];
}

/** A row is superseded for a reason: another write to the person, or `isCurrent`. */
function checkReasons({ log }: World, run: RunRecord): string[] {
  // Also a write that was never sent: it is recorded before, and its process killed, or the run over, in between.
  const others = log.calls.filter(({ run: other }) => other !== run);
  const superseded = run.results.filter(({ status }) => status === "superseded");
  return superseded.flatMap(({ key, item, error }) => {
    const isNotCurrent = log.calls.some(
      (call) => call.run?.book === run.book && call.key === key && call.answers.includes(false),
    );
    const hasReason = others.some(({ input }) => input && personOf(input) === item.person);
    if (isNotCurrent || hasReason) return [];
    return [`row ${key} is superseded without a reason (${isAudienceError(error) ? error.message : ""})`];
  });
}
