import type { MockConsentChange } from "audience-sdk/mock";
import { factsOf, type Input } from "../inputs.ts";
import type { CallRecord, Log, RunRecord } from "../records.ts";
import type { World } from "../world.ts";
import { isUnrecorded } from "./consent-over-nights.ts";
import { describe } from "./outcomes.ts";

const begins = Date.UTC(2026, 0);

/** A change of a consent at the service, and the call that made it; undefined for a person. */
interface Change extends MockConsentChange {
  readonly call: CallRecord | undefined;
  readonly ms: number;
}

/**
 * Nobody who has left before a night, as the service shows it, is subscribed again by a row that is looked up: one with a
 * recorded id, that says the same as on an earlier night, or leaves it to the service.
 */
export function checkRefusals(world: World): string[] {
  const changes = changesOf(world);
  return changes.flatMap((change, index) => {
    const { call, channel, contactId } = change;
    const isOptIn = channel === "suppressed" ? change.from === true : change.to === "SUBSCRIBED";
    if (!call?.run || !isOptIn) return [];
    const before = changes.slice(0, index).filter((each) => each.contactId === contactId);
    const suppressed = before.findLast((each) => each.channel === "suppressed");
    const left = before.findLast((each) => each.channel === channel);
    return [left, suppressed?.to === true ? suppressed : undefined].flatMap((refusal) => {
      if (!refusal || !isHeld(world, call, change, refusal)) return [];
      const by = refusal.call ? describe(refusal.call) : refusal.by;
      return [
        `${describe(call)} made ${channel} of ${contactId} ${String(change.to)}, after ${by} had made ` +
          `${refusal.channel} ${String(refusal.to)} at ${refusal.ms}`,
      ];
    });
  });
}

/** In order, without those whose call cannot be told. */
function changesOf({ log, service }: World): Change[] {
  return service.mock.organization("chaos").consentHistory.flatMap((change): Change[] => {
    const ms = Date.parse(change.at) - begins;
    if (change.by === "person" || change.by === "seed") return [{ ...change, call: undefined, ms }];
    const calls = log.calls.filter(
      ({ facts, departures }) =>
        facts.contacts.some((name) => namesOf(change).includes(name)) &&
        departures.some(
          ({ request }) =>
            request?.applied === true &&
            request.operation === change.by &&
            Math.floor(request.arrivedAtMs - begins) === ms,
        ),
    );
    return calls.length === 1 ? [{ ...change, call: calls[0], ms }] : [];
  });
}

function namesOf({ contactId, email, phone }: MockConsentChange): string[] {
  return [`uuid:${contactId}`, `email:${email?.toLowerCase()}`, `phone:${phone?.replaceAll(/\D/g, "")}`];
}

/** Whether the look must have kept the row from that. */
function isHeld({ log, service }: World, call: CallRecord, change: Change, refusal: Change): boolean {
  const { channel } = change;
  const run = call.run!;
  const isRefusal = refusal.channel === "suppressed" ? refusal.to === true : refusal.to !== "SUBSCRIBED";
  if (!isRefusal || refusal.ms >= run.startedAt || isOwn(refusal, call)) return false;
  // What the service does not show is not judged.
  const isShown = (name: string) => service.variants.profileAttributes !== "documented" || name === "email";
  if (!isShown(channel) || !isShown(refusal.channel)) return false;
  if (run.book === undefined || call.input === undefined || call.input.kind === "custom") return false;
  const earlier = log.runs.slice(0, log.runs.indexOf(run)).filter(({ book }) => book === run.book);
  if (!earlier.some((night) => hasSucceeded(night, call))) return false;
  if (knownId(log, earlier, call) !== change.contactId) return false;
  // The first write of a row asks, for its own channels.
  if (log.calls.some((each) => each.run === run && each.key === call.key && each.startedAt < call.startedAt))
    return false;
  // A suppression that the row itself decides about is none of the person's.
  if (refusal.channel !== channel && statedBy(call.input, "suppressed") !== undefined) return false;
  const own = statedBy(call.input, channel);
  if (own === undefined) return refusal.to !== "NON_SUBSCRIBED" && leaves(call.input, channel);
  const isSame = hasSaidSince(log, earlier, call, { channel, own, since: refusal.ms });
  return isSame && (refusal.to !== "NON_SUBSCRIBED" || wasSubscribed(earlier, call, channel));
}

function isOwn({ call }: Change, { key, run }: CallRecord): boolean {
  return call?.key === key && call?.run?.book === run!.book;
}

function hasSucceeded(night: RunRecord, { key }: CallRecord): boolean {
  return night.results.some((result) => result.key === key && result.status === "succeeded");
}

/** The id that the last response gave of the row's contact. */
function knownId(log: Log, nights: readonly RunRecord[], { key, facts }: CallRecord): string | undefined {
  const given = log.calls.flatMap((each) => {
    const isOfRow = each.key === key && each.run !== undefined && nights.includes(each.run);
    const id = isOfRow ? idOf(each.value) : undefined;
    return id === undefined ? [] : [{ id, name: each.facts.contacts[0] }];
  });
  const last = given.at(-1);
  return last?.name === facts.contacts[0] ? last?.id : undefined;
}

function idOf(value: unknown): string | undefined {
  const { id, contact } = Object(value) as { id?: string; contact?: { contactUUID?: string } };
  return id ?? contact?.contactUUID;
}

/** The status that a write states of a channel; a custom request states none. */
function statedBy(input: Input, channel: Change["channel"]): string | undefined {
  if (input.kind === "custom") return undefined;
  return factsOf(input).consent[channel === "suppressed" ? "is_suppressed" : channel];
}

function leaves(input: Input, channel: Change["channel"]): boolean {
  return factsOf(input).contacts.some((name) => name.startsWith(`${channel}:`));
}

function sentIn({ calls }: Log, night: RunRecord, key: string | undefined): boolean {
  return calls.some((call) => call.run === night && call.key === key && call.departures.length > 0);
}

/** Whether the row has said so since before the refusal, on each night and in each of its writes. */
function hasSaidSince(
  log: Log,
  nights: readonly RunRecord[],
  { key }: CallRecord,
  { channel, own, since }: { channel: Change["channel"]; own: string; since: number },
): boolean {
  const said = nights.flatMap((night) => {
    const row = night.rows.find((each) => each.key === key);
    const result = night.results.find((each) => each.key === key);
    const isReached = result ? !isUnrecorded(result) : sentIn(log, night, key);
    return row && isReached ? [{ night, row }] : [];
  });
  const isSame = ({ row }: (typeof said)[number]): boolean =>
    row.inputs.every((input) => input.kind === "event" || statedBy(input, channel) === own);
  // A row of events alone says nothing of consent.
  const before = said.findLastIndex(
    ({ night, row }) =>
      (night.endedAt ?? Infinity) < since && row.inputs.some(({ kind }) => kind !== "event"),
  );
  return before >= 0 && said.slice(before).every(isSame);
}

/** `NON_SUBSCRIBED` refuses a row that was sent as `SUBSCRIBED`, and was not to be confirmed. */
function wasSubscribed(nights: readonly RunRecord[], call: CallRecord, channel: Change["channel"]): boolean {
  const last = nights.findLast((night) => hasSucceeded(night, call));
  const row = last?.rows.find(({ key }) => key === call.key);
  return (
    row?.inputs.every(
      (input) =>
        statedBy(input, channel) === "SUBSCRIBED" &&
        !("double_opt_in" in input.body && input.body.double_opt_in),
    ) === true
  );
}
