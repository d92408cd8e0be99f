import { nameOfContact } from "../state/changes.ts";
import type {
  MockConsentChange,
  MockContact,
  MockOrganizationState,
  MockWebhookCall,
} from "../state/organization-state.ts";
import type { ContactView, EventView, ListView, Moment, WebhookView } from "./page-view.ts";
import { type Found, type Matches, newest, SHOWN } from "./search.ts";

/** The contacts that were created last. */
export function contactViews(
  state: MockOrganizationState,
  matches: Matches,
  resubscriptions: ReadonlySet<MockConsentChange>,
): Found<ContactView> {
  const listsOf = new Map<string, string[]>();
  for (const { contactId, listId } of state.memberships)
    listsOf.set(contactId, [...(listsOf.get(contactId) ?? []), listName(state, listId)]);
  const isFound = (contact: MockContact) =>
    matches(() => [contact, listsOf.get(contact.id), contact.is_suppressed ? "suppressed" : ""]);
  return newest(state.contacts, isFound, (contact) => {
    const isOwn = ({ contactId }: { contactId: string }) => contactId === contact.id;
    const history = state.consentHistory.filter(isOwn);
    return {
      contact,
      lists: listsOf.get(contact.id) ?? [],
      consents: consentsOf(contact, history),
      history: history
        .map((change) => ({ ...momentOf(change), isResubscription: resubscriptions.has(change) }))
        .reverse(),
      timeline: timelineOf(state, isOwn),
    };
  });
}

function consentsOf(contact: MockContact, history: readonly MockConsentChange[]): ContactView["consents"] {
  const channels = [
    ["email", contact.email, contact.email_opt_in],
    ["phone", contact.phone, contact.phone_opt_in],
  ] as const;
  return channels.flatMap(([channel, address, state]) => {
    const latest = history.findLast((change) => change.channel === channel);
    const isUnused = address === undefined && latest === undefined;
    if (isUnused) return [];
    const since = latest && { since: latest.at };
    const before = latest?.from === undefined ? {} : { before: String(latest.from) };
    return [{ channel, state, ...since, ...before }];
  });
}

function momentOf({ channel, from, to, by, at }: MockConsentChange): Moment {
  const change = from === undefined ? String(to) : `${from} → ${to}`;
  return { at, text: `${channel} ${change}, by ${by === "person" ? "the person" : by}` };
}

type IsOwn = (item: { contactId: string }) => boolean;

/** In order of time, newest first; what happened at one time stays in its order of cause. */
function timelineOf(state: MockOrganizationState, isOwn: IsOwn): Moment[] {
  const joined = state.memberships
    .filter(isOwn)
    .map(({ listId, joinedAt }) => ({ at: joinedAt, text: `joined the list ${listName(state, listId)}` }));
  const events = state.events
    .filter(isOwn)
    .map(({ eventName, recordedAt }) => ({ at: recordedAt, text: `event ${eventName}` }));
  const runs = state.automationRuns
    .filter(isOwn)
    .map(({ automation, startedAt }) => ({ at: startedAt, text: `automation ${automation}` }));
  const calls = state.webhookCalls
    .filter(isOwn)
    .map((call) => ({ at: call.sentAt, text: `webhook ${call.url}: ${resultOf(call)}` }));
  const mails = state.welcomeEmails
    .filter(isOwn)
    .map(({ sentAt }) => ({ at: sentAt, text: "welcome e-mail" }));
  const all = [...joined, ...events, ...runs, ...calls, ...mails];
  return all.sort((one, other) => one.at.localeCompare(other.at)).reverse();
}

function resultOf({ status, error }: MockWebhookCall): string {
  return error ?? (status === undefined ? "under way" : String(status));
}

function listName({ groups }: MockOrganizationState, listId: string): string {
  /* v8 ignore next -- @preserve a list is never deleted */
  return groups.find(({ id }) => id === listId)?.name ?? listId;
}

function contactName({ contacts }: MockOrganizationState, contactId: string): string {
  const contact = contacts.find(({ id }) => id === contactId);
  /* v8 ignore next -- @preserve a contact is never deleted */
  return contact === undefined ? contactId : nameOfContact(contact);
}

/** Lists and segments with their latest members. */
export function listViews(state: MockOrganizationState, matches: Matches): Found<ListView> {
  const { items, found } = newest(
    state.groups,
    (group) => matches(() => group),
    (group) => {
      const members = state.memberships.filter(({ listId }) => listId === group.id);
      const latest = members.slice(-SHOWN).reverse();
      const named = latest.map(({ contactId, joinedAt }) => ({
        contact: contactName(state, contactId),
        joinedAt,
      }));
      return { group, size: members.length, members: named };
    },
  );
  return { items: items.reverse(), found };
}

/** Of rows that are shown with the name of their contact. */
function isFoundWithContact({ contacts }: MockOrganizationState, matches: Matches) {
  const names = new Map(contacts.map((contact) => [contact.id, nameOfContact(contact)]));
  return (row: { contactId: string }) => matches(() => [row, names.get(row.contactId)]);
}

/** The latest events with the automations that each started, and the calls of those. */
export function eventViews(state: MockOrganizationState, matches: Matches): Found<EventView> {
  return newest(
    state.events,
    isFoundWithContact(state, matches),
    ({ id, recordedAt, eventName, contactId, uniqueIdentifier, eventData }) => {
      const isOf = ({ eventId }: { eventId?: string }) => eventId === id;
      const names = [...new Set(state.automationRuns.filter(isOf).map(({ automation }) => automation))];
      const calls = state.webhookCalls.filter(isOf);
      const callsOf = (name: string) => calls.filter(({ automation }) => automation === name);
      return {
        id,
        at: recordedAt,
        eventName,
        contact: contactName(state, contactId),
        ...(uniqueIdentifier !== undefined && { uniqueIdentifier }),
        ...(eventData !== undefined && { eventData }),
        automations: names.map((name) => ({ name, calls: callsOf(name) })),
      };
    },
  );
}

/** The latest webhook calls. */
export function webhookViews(state: MockOrganizationState, matches: Matches): Found<WebhookView> {
  return newest(state.webhookCalls, isFoundWithContact(state, matches), (call) => ({
    ...call,
    number: state.webhookCalls.indexOf(call) + 1,
    contact: contactName(state, call.contactId),
  }));
}
