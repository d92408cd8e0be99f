import {
  arrayOf,
  boolean,
  checkOption,
  enumOf,
  mapOf,
  nonEmptyString,
  number,
  object,
  type Rule,
  string,
  that,
} from "../json-rules.ts";
import type { SavedOrganization } from "./consent-log.ts";
import type { MockOrganizationState } from "./organization-state.ts";
import type { Organizations } from "./organizations.ts";

/** What a file of saved state holds, as JSON. */
interface SavedState {
  format: typeof FORMAT;
  version: typeof VERSION;
  /** By the id of the organization. */
  organizations: Record<string, SavedOrganization>;
}

const FORMAT = "audience-mock state";
const VERSION = 1;

const anything: Rule = () => undefined;
const id = nonEmptyString;
const time = nonEmptyString;
const text = string();
const channel = enumOf("email", "phone", "suppressed");

/** An object that has at least these fields; others are as `others` says. */
function row(required: Readonly<Record<string, Rule>>, optional = {}, others: Rule = anything): Rule {
  return object({ ...required, ...optional }, { required: Object.keys(required), unknownKeys: others });
}

const contact = row(
  {
    id,
    email_opt_in: text,
    phone_opt_in: text,
    is_suppressed: boolean,
    double_opt_in: boolean,
    created: time,
    updated: time,
  },
  {
    custom_properties: mapOf(text),
    consents: arrayOf(row({ type: text, id, createdAt: text, ip: text, source: text })),
    other_fields: mapOf(anything),
  },
  text,
);

const tables: Record<keyof MockOrganizationState, Rule> = {
  contacts: arrayOf(contact),
  groups: arrayOf(row({ id, name: text, type: enumOf("LIST", "SEGMENT"), created_at: number })),
  memberships: arrayOf(row({ listId: id, contactId: id, joinedAt: time })),
  events: arrayOf(
    row({ id, contactId: id, eventName: text, recordedAt: time }, { uniqueIdentifier: nonEmptyString }),
  ),
  triggers: arrayOf(row({ contactId: id, listId: id, firedAt: time })),
  automationRuns: arrayOf(
    row({ automation: text, contactId: id, on: mapOf(text), startedAt: time }, { eventId: id }),
  ),
  welcomeEmails: arrayOf(row({ contactId: id, email: text, sentAt: time })),
  webhookCalls: arrayOf(row({ automation: text, contactId: id, url: text, sentAt: time }, { eventId: id })),
  consentHistory: arrayOf(row({ contactId: id, channel, to: anything, by: text, at: time })),
};

const personalWords = arrayOf(row({ contactId: id, channel, refuses: boolean, after: number }));

const savedRule = row({
  format: that((value) => value === FORMAT, `must be "${FORMAT}"`),
  version: that((value) => value === VERSION, `must be ${VERSION}`),
  organizations: mapOf(object({ ...tables, personalWords }, { required: Object.keys(tables) })),
});

/** The state of all organizations, as the content of a file. */
export function saveState({ organizations }: Organizations): string {
  const saved: SavedState = {
    format: FORMAT,
    version: VERSION,
    organizations: Object.fromEntries(organizations.map((one) => [one.seed.id, one.saved()])),
  };
  return JSON.stringify(saved);
}

/** Takes over a saved state, all of it or nothing. Throws a `TypeError` that names what is wrong with the content. */
export function restoreState(organizations: Organizations, content: string): void {
  const saved = parse(content);
  const known = organizations.organizations.map(({ seed }) => seed.id);
  for (const [name, state] of Object.entries(saved.organizations)) {
    if (!known.includes(name))
      throw new TypeError(`it holds the organization "${name}", and the seed has none of this id`);
    checkReferences(name, state);
  }
  organizations.restore(saved.organizations);
}

function parse(content: string): SavedState {
  const saved: unknown = JSON.parse(content);
  checkOption("the saved state", saved, savedRule);
  // Safe: the rule has checked it.
  return saved as SavedState;
}

/** Each row of a contact needs the contact. */
function checkReferences(name: string, state: MockOrganizationState): void {
  const ids = new Set(state.contacts.map((one) => one.id));
  const { memberships, events, triggers, automationRuns, welcomeEmails, webhookCalls, consentHistory } =
    state;
  const ofContacts: Record<string, readonly { contactId: string }[]> = {
    memberships,
    events,
    triggers,
    automationRuns,
    welcomeEmails,
    webhookCalls,
    consentHistory,
  };
  for (const [table, rows] of Object.entries(ofContacts)) {
    if (rows.some(({ contactId }) => !ids.has(contactId)))
      throw new TypeError(`organization "${name}": a row of ${table} names a contact that is missing`);
  }
}
