import type { MockConsentChange, MockContact } from "./organization-state.ts";

/** One change of an organization's state, by a request or by a person. `contact` is an address, a number or an id. */
export type StateChange =
  | { kind: "contact"; contact: string; action: "created" | "updated"; fields: string[] }
  | { kind: "consent"; contact: string; entry: MockConsentChange; isResubscription: boolean }
  | (Pick<MockConsentChange, "contactId" | "channel"> & {
      kind: "asks-again";
      contact: string;
      organization: string;
    })
  | { kind: "list"; contact: string; list: string; action: "joined" | "left" }
  | { kind: "event"; contact: string; eventName: string }
  | { kind: "automation"; contact: string; automation: string; webhook?: string }
  | { kind: "welcome-email"; contact: string };

/** The name of a contact for people. */
export function nameOfContact({ email, phone, id }: Pick<MockContact, "email" | "phone" | "id">): string {
  /* v8 ignore next -- @preserve a contact has an e-mail or a phone */
  return email ?? phone ?? id;
}

/** Fields that another kind of change tells, or that change with every write. */
const TOLD_ELSEWHERE: readonly string[] = [
  "email_opt_in",
  "phone_opt_in",
  "is_suppressed",
  "consents",
  "updated",
];

/** What a write changed of a contact; `before` is empty for a new one. */
export function contactChanges(
  before: Partial<MockContact>,
  after: MockContact,
  consents: readonly MockConsentChange[],
  resubscriptions: ReadonlySet<MockConsentChange>,
): StateChange[] {
  const contact = nameOfContact(after);
  const action = before.id === undefined ? "created" : "updated";
  const fields = changedFields(before, after);
  return [
    ...(fields.length > 0 ? [{ kind: "contact", contact, action, fields } as const] : []),
    ...consents.map((entry) => ({
      kind: "consent" as const,
      contact,
      entry,
      isResubscription: resubscriptions.has(entry),
    })),
  ];
}

/** The names of the contact's fields that differ from before. */
function changedFields(before: Partial<MockContact>, after: MockContact): string[] {
  const values = new Map<string, unknown>(Object.entries(before));
  return Object.entries(after)
    .filter(([name, value]) => JSON.stringify(values.get(name)) !== JSON.stringify(value))
    .map(([name]) => name)
    .filter((name) => !TOLD_ELSEWHERE.includes(name));
}

/** One change in a few words, such as "ada@example.com: email NON_SUBSCRIBED → SUBSCRIBED". */
export function describeChange(change: StateChange): string {
  return `${change.contact}: ${textOf(change)}`;
}

function textOf(change: StateChange): string {
  switch (change.kind) {
    case "contact":
      return change.action === "created" ? "created" : `changed ${change.fields.join(", ")}`;
    case "consent": {
      const { channel, from, to } = change.entry;
      const words = `${channel} ${from === undefined ? "" : `${from} → `}${to}`;
      return change.isResubscription ? `${words} (resubscription)` : words;
    }
    /* v8 ignore next -- @preserve no request asks again */
    case "asks-again":
      return `asks again (${change.channel})`;
    case "list":
      return `${change.action} the list ${change.list}`;
    case "event":
      return `event ${change.eventName}`;
    case "automation":
      return `automation ${change.automation}${change.webhook === undefined ? "" : ` calls ${change.webhook}`}`;
    case "welcome-email":
      return "gets the welcome e-mail";
  }
}
