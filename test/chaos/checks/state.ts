import { isAudienceError } from "audience-sdk";
import type { MockContact } from "audience-sdk/mock";
import { type CallRecord, groupBy, type Row } from "../records.ts";
import type { World } from "../world.ts";
import { describe } from "./outcomes.ts";

/** An event is recorded once, however often it was sent. */
export function checkEvents({ log, service }: World): string[] {
  const problems: string[] = [];
  const { events } = service.mock.organization("chaos");
  const recorded = groupBy(events, ({ uniqueIdentifier }) => uniqueIdentifier);
  for (const [id, same] of recorded) {
    if (id === undefined || same.length > 1)
      problems.push(`the event ${id} is recorded ${same.length} times`);
  }
  const sent = log.calls.filter(({ input }) => input?.kind === "event");
  for (const call of sent) {
    const ids = new Set(call.departures.map(({ body }) => idOf(body)));
    if (ids.size > 1) problems.push(`${describe(call)} was sent with ${ids.size} ids`);
    // The page of this fault may hide that the service has refused the event.
    const isHidden = call.departures.some(({ request }) => request?.fault === "wrong-content-type");
    const wasRecorded = isHidden || [...ids].some((id) => recorded.has(id));
    if (call.settledAt !== undefined && call.error === undefined && !wasRecorded)
      problems.push(`${describe(call)} resolved, and is not recorded`);
  }
  return [...problems, ...checkVersions(log.runs, sent)];
}

function idOf(body: string | undefined): string | undefined {
  const { uniqueIdentifier } = JSON.parse(body ?? "{}") as { uniqueIdentifier?: string };
  return uniqueIdentifier;
}

/** As long as a row with a key and a checkpoint does not change, it has one id, through all lives of the run. */
function checkVersions(runs: World["log"]["runs"], sent: World["log"]["calls"]): string[] {
  const problems: string[] = [];
  const current = new Map<string, { text: string; ids: Set<string | undefined> }>();
  for (const run of runs.filter(({ book }) => book !== undefined)) {
    for (const row of run.rows) {
      const rowOfBook = `${run.book} ${row.key}`;
      const text = JSON.stringify(row satisfies Row);
      const before = current.get(rowOfBook);
      const version = before?.text === text ? before : { text, ids: new Set<string | undefined>() };
      current.set(rowOfBook, version);
      const call = sent.find((each) => each.run === run && each.key === row.key);
      for (const { body } of call?.departures ?? []) version.ids.add(idOf(body));
      if (version.ids.size > 1) problems.push(`row ${rowOfBook} was sent as ${version.ids.size} events`);
    }
  }
  return problems;
}

/** Each contact has the e-mail consent of the last call that was carried out, or of a later one that may have been. */
export function checkState(world: World): string[] {
  const { mock, variants } = world.service;
  // Under these the service itself stores something else than what was sent, or keeps two contacts.
  const isPlain =
    variants.doubleOptIn !== "pending" &&
    variants.canV1Resubscribe !== false &&
    variants.canV2Resubscribe !== false &&
    variants.emailCase !== "sensitive" &&
    variants.matchFirst !== "phone" &&
    (variants.emailOptInOmitted ?? "kept") === "kept";
  if (!isPlain) return [];
  const { contacts, consentHistory } = mock.organization("chaos");
  return contacts.flatMap((contact) => {
    if (contact.email === undefined) return [];
    // Between a click and the calls there is no order either.
    if (consentHistory.some(({ contactId, by }) => by === "person" && contactId === contact.id)) return [];
    // An address that it had before leads a call to it as well.
    const formerly = consentHistory.flatMap(({ contactId, email }) =>
      contactId === contact.id && email !== undefined ? [{ ...contact, email }] : [],
    );
    const calls = world.log.calls.filter(({ facts }) =>
      facts.contacts.some((name) => [contact, ...formerly].some((each) => isNameOf(each, name))),
    );
    // Which of two contacts a call means is the service's decision.
    const others = contacts.filter(({ id }) => id !== contact.id);
    if (
      others.some((other) => calls.some(({ facts }) => facts.contacts.some((name) => isNameOf(other, name))))
    )
      return [];
    // Between two clients there is no order.
    if (new Set(calls.map(({ client }) => client)).size > 1) return [];
    // Rows with a refusal go first, so rows are sent in another order than they are made.
    const inOrder = calls.toSorted((one, other) => leftAt(one) - leftAt(other));
    const possible = possibleConsents(world.seeded.get(contact.id) ?? "NON_SUBSCRIBED", inOrder);
    if (possible.has(contact.email_opt_in)) return [];
    const expected = [...possible].join(" or ");
    return [`${contact.email} is ${contact.email_opt_in}, and its calls say ${expected}`];
  });
}

function isNameOf({ id, email, phone }: MockContact, name: string): boolean {
  const names = [`uuid:${id}`, `email:${email?.toLowerCase()}`, `phone:${phone?.replaceAll(/\D/g, "")}`];
  return names.includes(name);
}

function leftAt({ departures, startedAt }: CallRecord): number {
  return departures.at(-1)?.at ?? startedAt;
}

function possibleConsents(before: string, calls: readonly CallRecord[]): Set<string> {
  let possible = new Set([before]);
  for (const call of calls) {
    const { facts, error, settledAt } = call;
    const statuses = facts.leavesEmailToService
      ? ["SUBSCRIBED", "NON_SUBSCRIBED"]
      : [facts.consent["email"]].filter((status) => status !== undefined);
    if (statuses.length === 0) continue;
    const isOpen = settledAt === undefined || (isAudienceError(error) && error.outcome === "unknown");
    const isApplied = error === undefined || (isAudienceError(error) && error.outcome === "applied");
    if (isApplied && settledAt !== undefined) possible = new Set(statuses);
    else if (isOpen) for (const status of statuses) possible.add(status);
  }
  return possible;
}
