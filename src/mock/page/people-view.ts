import { nameOfContact } from "../state/changes.ts";
import type {
  MockConsentChange,
  MockContact,
  MockOrganizationState,
  MockWebhookCall,
} from "../state/organization-state.ts";
import type { ContactView, EventView, ListView, Moment, WebhookView } from "./page-view.ts";

/** A page shows no more of each; the search finds the others. */
const SHOWN = 100;

type Matches = (text: string) => boolean;

const newest = <Item>(items: readonly Item[], matches: Matches): Item[] =>
  items
    .filter((item) => matches(JSON.stringify(item)))
    .slice(-SHOWN)
    .reverse();

/** The contacts that were created last. */
export function contactViews(state: MockOrganizationState, matches: Matches): ContactView[] {
  const contacts = newest(state.contacts, matches);
  return contacts.map((contact) => {
    const isOwn = ({ contactId }: { contactId: string }) => contactId === contact.id;
    const history = state.consentHistory.filter(isOwn);
    const lists = state.memberships.filter(isOwn).map(({ listId }) => listName(state, listId));
    return {
      contact,
      lists,
      consents: consentsOf(contact, history),
      history: history.map(momentOf).reverse(),
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
export function listViews(state: MockOrganizationState, matches: Matches): ListView[] {
  return newest(state.groups, matches)
    .reverse()
    .map((group) => {
      const members = state.memberships.filter(({ listId }) => listId === group.id);
      const latest = members.slice(-SHOWN).reverse();
      const named = latest.map(({ contactId, joinedAt }) => ({
        contact: contactName(state, contactId),
        joinedAt,
      }));
      return { group, size: members.length, members: named };
    });
}

/** The latest events with the automations that each started, and the calls of those. */
export function eventViews(state: MockOrganizationState, matches: Matches): EventView[] {
  return newest(state.events, matches).map(
    ({ id, recordedAt, eventName, contactId, uniqueIdentifier, eventData }) => {
      const runs = state.automationRuns.filter(
        (run) =>
          run.contactId === contactId &&
          run.startedAt === recordedAt &&
          "event" in run.on &&
          run.on.event === eventName,
      );
      const names = [...new Set(runs.map(({ automation }) => automation))];
      const callsOf = (name: string) =>
        state.webhookCalls.filter(
          (call) => call.automation === name && call.contactId === contactId && call.sentAt >= recordedAt,
        );
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
export function webhookViews(state: MockOrganizationState, matches: Matches): WebhookView[] {
  return newest(state.webhookCalls, matches).map((call) => ({
    ...call,
    contact: contactName(state, call.contactId),
  }));
}
