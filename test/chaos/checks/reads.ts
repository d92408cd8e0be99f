import { inspect } from "node:util";
import { isAudienceError } from "audience-sdk";
import type { MockConsentChange, MockOrganizationState } from "audience-sdk/mock";
import type { SnapshotContact } from "audience-sdk/snapshot";
import { type Departure, groupBy, type Log, type SnapshotRecord } from "../records.ts";
import type { World } from "../world.ts";

/** Every item comes once, and a list ends. */
export function checkPages({ log, service }: World): string[] {
  const { contacts } = service.mock.organization("chaos");
  const order = new Map(contacts.map(({ id }, index) => [id, index]));
  return log.lists.flatMap(({ list, call, before, received, isWhole }) => {
    const problems: string[] = [];
    if (new Set(received).size < received.length) problems.push("gave an item twice");
    // Contacts are only added, at the end; lists do not change.
    const isInOrder = received.every((id, index) => {
      const previous = received[index - 1];
      return list !== "customers" || previous === undefined || order.get(previous)! < order.get(id)!;
    });
    if (!isInOrder) problems.push("gave items in another order");
    if (isWhole && before.some((id) => !received.includes(id))) {
      const missing = before.filter((id) => !received.includes(id));
      problems.push(`did not give ${missing.join(", ")}`);
    }
    if (isWhole && list !== "customers" && received.length !== before.length) problems.push("gave too much");
    if (call.error !== undefined && !isAudienceError(call.error))
      problems.push(`threw ${inspect(call.error)}`);
    return problems.map((problem) => `the list of ${list} (${call.tag}) ${problem}`);
  });
}

const begins = Date.UTC(2026, 0);
const fields = { email: "email_opt_in", phone: "phone_opt_in", suppressed: "is_suppressed" } as const;

/** Every snapshot is honest, tells what has changed since the one before, and guards its nights. */
export function checkSnapshots(world: World): string[] {
  const { snapshots } = world.log;
  const state = world.service.mock.organization("chaos");
  const problems = snapshots.flatMap((each, index) =>
    [...checkContacts(world, state, each), ...checkChanges(each, snapshots[index - 1])].map(
      (problem) => `the snapshot of ${each.begunAt} to ${each.endedAt} ${problem}`,
    ),
  );
  return [...problems, ...checkGuard(world)];
}

/** Who was there before it began is in it, once, as the service had the contact while it was read. */
function checkContacts(
  { log, service }: World,
  state: MockOrganizationState,
  record: SnapshotRecord,
): string[] {
  const { contacts, begunAt, endedAt, snapshot } = record;
  const { v1Paging = "links", v1List, v1ListedConsents = true, profileAttributes } = service.variants;
  const shown = new Map(contacts.map((each) => [each.id, each]));
  const isThere = (at: number) => state.contacts.filter(({ created }) => msOf(created) < at);
  const [early, late] = [isThere(begunAt), isThere(endedAt + 1)];
  const missing = early.filter(({ id }) => !shown.has(id));
  // A bare array has no room for a total.
  const tellsTotal = v1List !== "array" && ["meta", "pagination", "totals"].includes(v1Paging);
  const problems = [
    ...(isBegunAt(log, record) ? [] : ["does not say when it was begun"]),
    ...(shown.size === contacts.length ? [] : ["has a contact twice"]),
    ...(snapshot.size === contacts.length
      ? []
      : [`has ${contacts.length} contacts, and says ${snapshot.size}`]),
    ...(missing.length === 0 ? [] : [`lacks ${missing.length} contacts, such as ${missing[0]!.id}`]),
    ...(shown.size <= late.length ? [] : ["has contacts that did not exist"]),
    ...(tellsTotal && early.length === late.length && !snapshot.complete ? ["is not complete"] : []),
    ...(v1List === "array" && snapshot.complete ? ["says that it is complete, without a total"] : []),
  ];
  const history = groupBy(state.consentHistory, ({ channel, contactId }) => `${channel} ${contactId}`);
  for (const contact of late) {
    const seen = shown.get(contact.id);
    if (!seen) continue;
    const hasStoodStill = msOf(contact.updated) < begunAt;
    if (hasStoodStill && (seen.email !== contact.email || seen.phone !== contact.phone))
      problems.push(`shows another address of ${contact.id}`);
    for (const [channel, field] of Object.entries(fields)) {
      const isShown = v1ListedConsents && (profileAttributes !== "documented" || field === "email_opt_in");
      const changes = history.get(`${channel} ${contact.id}`) ?? [];
      const possible = isShown ? valuesWithin(changes, contact[field], record) : [undefined];
      if (!possible.includes(seen[field]))
        problems.push(`shows ${field} ${seen[field]} of ${contact.id}, who was ${possible.join(" or ")}`);
    }
  }
  return problems;
}

/** Whether its first page was asked for at its time or later. It may have waited for the lock of a killed process before. */
function isBegunAt({ departures }: Log, { begunAt, endedAt, snapshot }: SnapshotRecord): boolean {
  const readAt = snapshot.readAt.getTime() - begins;
  const isFirstPage = ({ at, request }: Departure) =>
    at >= readAt && request?.operation === "v1.customers.list" && request.query["page"] === "1";
  return Math.floor(begunAt) <= readAt && readAt <= endedAt && departures.some(isFirstPage);
}

function msOf(time: string): number {
  return Date.parse(time) - begins;
}

type Value = string | boolean | undefined;

/** What a consent was before a snapshot, and became while it was read. */
function valuesWithin(
  changes: readonly MockConsentChange[],
  now: Value,
  { begunAt, endedAt }: SnapshotRecord,
): Value[] {
  const before = changes.findLast(({ at }) => msOf(at) < begunAt)?.to;
  const later = changes.filter(({ at }) => msOf(at) >= Math.floor(begunAt));
  const during = later.filter(({ at }) => msOf(at) <= endedAt).map(({ to }) => to);
  const [first] = later;
  // What a new contact has of a channel that it does not name is no change.
  const unstated = typeof now === "boolean" ? false : "NON_SUBSCRIBED";
  return [before ?? (first ? (first.from ?? unstated) : now), ...during];
}

/** Whoever is not in the one before, or has another consent, comes once. */
function checkChanges(
  { contacts, changes, changesError }: SnapshotRecord,
  earlier: SnapshotRecord | undefined,
): string[] {
  if (!earlier) return [];
  if ([contacts, earlier.contacts].some((each) => each.length > 0 && !each.some(showsConsent)))
    return isConfiguration(changesError) ? [] : [`shows no consent, and ended with ${String(changesError)}`];
  if (!changes) return [`told no changes: ${String(changesError)}`];
  const before = new Map(earlier.contacts.map((each) => [each.id, each]));
  const expected = contacts.flatMap((contact) => {
    const known = before.get(contact.id);
    if (!known) return [`new ${contact.id}`];
    return consentOf(contact) === consentOf(known) ? [] : [`consent ${contact.id} ${consentOf(known)}`];
  });
  const told = changes.map(({ kind, contact, before: known }) =>
    known ? `${kind} ${contact.id} ${consentOf(known)}` : `${kind} ${contact.id}`,
  );
  return String(told.toSorted()) === String(expected.toSorted())
    ? []
    : [`told ${told.join(", ")}, and not ${expected.join(", ")}`];
}

function consentOf(contact: SnapshotContact): string {
  return Object.values(fields)
    .map((field) => contact[field] ?? "-")
    .join(" ");
}

function showsConsent(contact: SnapshotContact): boolean {
  return Object.values(fields).some((field) => contact[field] !== undefined);
}

function isConfiguration(error: unknown): boolean {
  return isAudienceError(error) && error.code === "configuration";
}

/** A run refuses a snapshot by which nobody can be judged. */
function checkGuard({ log }: World): string[] {
  const silent = log.runs.filter(
    ({ guard, results, error, endedAt }) =>
      guard &&
      endedAt !== undefined &&
      guard.contacts.length > 0 &&
      !guard.contacts.some(showsConsent) &&
      !(results.length === 0 && isAudienceError(error)),
  );
  return silent.map(() => "a run took a snapshot that shows no consent as its guard");
}
