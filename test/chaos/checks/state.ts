import { isAudienceError } from "audience-sdk";
import type { MockContact } from "audience-sdk/mock";
import type { CallRecord } from "../records.ts";
import type { World } from "../world.ts";

/** Each contact has the e-mail consent of the last call that was carried out, or of a later one that may have been. */
export function checkState(world: World): string[] {
  const { mock, variants } = world.service;
  // Under these the service itself stores something else than what was sent, or keeps two contacts.
  const isPlain =
    variants.doubleOptIn !== "pending" &&
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
    const calls = world.log.calls.filter(({ facts }) =>
      facts.contacts.some((name) => isNameOf(contact, name)),
    );
    // Which of two contacts a call means is the service's decision.
    const others = contacts.filter(({ id }) => id !== contact.id);
    if (
      others.some((other) => calls.some(({ facts }) => facts.contacts.some((name) => isNameOf(other, name))))
    )
      return [];
    // Between two clients there is no order.
    if (new Set(calls.map(({ client }) => client)).size > 1) return [];
    const possible = possibleConsents(world.seeded.get(contact.id) ?? "NON_SUBSCRIBED", calls);
    if (possible.has(contact.email_opt_in)) return [];
    const expected = [...possible].join(" or ");
    return [`${contact.email} is ${contact.email_opt_in}, and its calls say ${expected}`];
  });
}

function isNameOf({ id, email, phone }: MockContact, name: string): boolean {
  const names = [`uuid:${id}`, `email:${email?.toLowerCase()}`, `phone:${phone?.replaceAll(/\D/g, "")}`];
  return names.includes(name);
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
