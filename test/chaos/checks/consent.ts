import { isAudienceError, type Profile } from "audience-sdk";
import type { SnapshotContact } from "audience-sdk/snapshot";
import { personOf, phoneOf } from "../inputs.ts";
import { type CallRecord, type Log, type RunRecord, seesConsentsOf } from "../records.ts";
import type { World } from "../world.ts";
import { describe } from "./outcomes.ts";

/** The consent of a write that was applied, as the contract counts it. A status that is not known equals none. */
interface Written {
  readonly by: CallRecord;
  readonly at: number;
  /** When the service got it: of two that are under way at once, the later one counts. */
  readonly arrivedAt: number;
  readonly status: string;
  /** Whether the row's run surely knows of it. */
  readonly isSure: boolean;
}

/** No row overrides a consent that was written after its run began, also not in a later life of the run. */
export function checkConsent(world: World): string[] {
  const { log } = world;
  const overridden = log.calls.flatMap((call) => {
    const { run, departures } = call;
    const first = departures.find(({ request }) => request?.applied === true);
    const problems: string[] = [];
    // An event changes no consent; any other row leaves what it does not state to the service.
    if (!run || !first || call.input?.kind === "event") return problems;
    for (const [channel, { by, at, status }] of bindingConsents(world, call, first.at)) {
      const own = call.facts.consent[channel] ?? "what the service decides";
      if (own !== status && !isLaterOptOut(log, call, channel, at))
        problems.push(
          `${describe(call)} wrote ${channel} ${own}, after ${describe(by)} wrote ${status} at ${at}`,
        );
    }
    return problems;
  });
  return [...overridden, ...log.runs.flatMap((run) => checkReasons(world, run))];
}

/**
 * An opt-out of a row that an earlier life has met counts from its reading: it is never held back in doubt (D86). A channel
 * that the row does not name is as new.
 */
function isLaterOptOut(
  { calls }: Log,
  { run, key, facts }: CallRecord,
  channel: string,
  at: number,
): boolean {
  const { book } = run!;
  // It is read before its first call.
  const startedAt = calls.find((each) => each.run === run && each.key === key)!.startedAt;
  const wasMet = calls.some((other) => other.run !== run && other.run?.book === book && other.key === key);
  const stated = facts.consent[channel];
  const isOptOut =
    stated === undefined ? Object.values(facts.consent).includes("UNSUBSCRIBED") : stated === "UNSUBSCRIBED";
  return isOptOut && at < startedAt && wasMet;
}

/** The latest consent in each channel that others of this process wrote, and that binds the row. */
function bindingConsents(world: World, row: CallRecord, before: number): Map<string, Written> {
  const run = row.run!;
  const latest = new Map<string, Written>();
  for (const other of world.log.calls) {
    if (other.run === run || !sharesName(other, row)) continue;
    const isSure = isBound(world, other, row);
    if (!isSure && !mayBeRecorded(world.log, other, row)) continue;
    const last = other.departures.findLast(({ request }) => request?.applied === true);
    if (!last || last.at >= before) continue;
    for (const [channel, status] of Object.entries(writtenBy(other))) {
      const known = latest.get(channel);
      const arrivedAt = last.request!.arrivedAtMs;
      if (!known || known.arrivedAt <= arrivedAt)
        latest.set(channel, { by: other, at: last.at, arrivedAt, status, isSure });
    }
  }
  return new Map([...latest].filter(([, { isSure }]) => isSure));
}

/**
 * Whether the run, or an earlier life as it was about to end, may know of another call. All processes are one here, and
 * two key functions that have given the same key count as one.
 */
function mayBeRecorded({ runs }: Log, other: CallRecord, row: CallRecord): boolean {
  const run = row.run!;
  const { at = -1, endedAt = at } = other.departures.at(-1) ?? {};
  return endedAt > run.startedAt || earlierLives(runs, run).some(({ startedAt }) => at >= startedAt);
}

export function sharesName(one: CallRecord, other: CallRecord): boolean {
  return one.facts.contacts.some((name) => other.facts.contacts.includes(name));
}

/** Whether the other call's consent came after the run began, or during the life of it that this one continues. */
function isBound({ log }: World, other: CallRecord, row: CallRecord): boolean {
  const run = row.run!;
  const { at = -1, endedAt = at } = other.departures.at(-1) ?? {};
  // A write that is under way when the run begins counts, too: its client is told of its end.
  if (seesConsentsOf(log, run.client, other.client) && endedAt > run.startedAt) return true;
  const lives = earlierLives(log.runs, run);
  return lives.some((life) => wasRecorded(log, other, life));
}

/** Whether a checkpoint surely recorded the last request of a call that is none of its own rows. */
export function wasRecorded(log: Log, { client, run, departures }: CallRecord, life: RunRecord): boolean {
  const { at = -1 } = departures.at(-1) ?? {};
  return (
    seesConsentsOf(log, life.client, client) &&
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
  // The response said it, and then `isCurrent` said no.
  if (isAudienceError(error) && error.outcome === "applied") return facts.consent;
  const isKnown = settledAt !== undefined && error === undefined;
  const { contact } = Object(value) as { contact?: { action: string } };
  const email = isKnown ? (contact?.action === "created" ? "NON_SUBSCRIBED" : "SUBSCRIBED") : "unknown";
  return { email, ...facts.consent };
}

/** A row is superseded for a reason, and says for which. */
function checkReasons({ log, service }: World, run: RunRecord): string[] {
  const { runs } = log;
  // Also a write that was never sent: it is recorded before, and its process killed, or the run over, in between.
  const others = log.calls.filter(({ run: other }) => other !== run);
  const { consentHistory } = service.mock.organization("chaos");
  return run.results.flatMap((result) => {
    if (result.status !== "superseded") return [];
    const { key, item, error, reason, service: shown } = result;
    // What an earlier night was told holds on.
    const guards = runs.flatMap((each) => (isOfSameBook(each, run) ? (each.guard?.contacts ?? []) : []));
    const isOfPerson = (text: string | undefined): boolean =>
      text?.toLowerCase().startsWith(`p${item.person}`) === true;
    const has = {
      process: others.some(({ input }) => input && personOf(input) === item.person),
      service: shown
        ? isRefusal(shown.attributes)
        : consentHistory.some(
            ({ email, phone, to }) =>
              to !== "SUBSCRIBED" && (isOfPerson(email) || phone === phoneOf(item.person)),
          ),
      snapshot: guards.some((contact) => hasRefused(contact, item.person)),
      "not-current": log.calls.some(
        (call) => call.run === run && call.key === key && call.answers.some((answer) => !answer.isCurrent),
      ),
    }[reason];
    return has ? [] : [`row ${key} is superseded by ${reason} without a reason (${String(error)})`];
  });
}

function isOfSameBook(one: RunRecord, other: RunRecord): boolean {
  return one === other || (one.book !== undefined && one.book === other.book);
}

function hasRefused({ email, phone, ...consents }: SnapshotContact, person: number): boolean {
  const isOfPerson = email?.toLowerCase().startsWith(`p${person}`) === true || phone === phoneOf(person);
  return isOfPerson && isRefusal(consents);
}

function isRefusal({
  email_opt_in,
  phone_opt_in,
  is_suppressed,
}: Pick<Profile["attributes"], "email_opt_in" | "phone_opt_in" | "is_suppressed">): boolean {
  return (
    is_suppressed === true ||
    [email_opt_in, phone_opt_in].some((status) => status === "NON_SUBSCRIBED" || status === "UNSUBSCRIBED")
  );
}
