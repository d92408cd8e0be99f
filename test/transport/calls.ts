import type { AudienceClient } from "audience-sdk";
import { createMockService, type MockService, type MockServiceOptions } from "audience-sdk/mock";

type Options = Parameters<AudienceClient["v1"]["customers"]["get"]>[1];

/** A call of one of the four kinds of the retry table. */
export interface CallKind {
  readonly name: string;
  readonly kind: "read" | "event" | "repeatable write" | "unrepeatable write";
  readonly call: (
    audience: AudienceClient,
    options?: Options,
  ) => ReturnType<AudienceClient["v1"]["customers"]["get"]> | AnyCall;
}

type AnyCall = Promise<unknown> & {
  withResponse(): Promise<{ data: unknown; attempts: number; queuedMs: number }>;
};

const consent = { createdAt: "2026-01-31T09:30:00Z", ip: "192.0.2.1", source: "form" };
const channels = { email: { status: "subscribed" } };
const identifier = { type: "email", id: "new@example.com", channels, consent } as const;

/** Calls that may, and calls that must not, be carried out twice. */
export const callKinds: readonly CallKind[] = [
  { name: "customers.get", kind: "read", call: ({ v1 }, o) => v1.customers.get("contact-1", o) },
  {
    name: "events.send",
    kind: "event",
    call: ({ v1 }, o) =>
      v1.events.send({ eventName: "order placed", contact: { email: "new@example.com" } }, o),
  },
  {
    name: "customers.upsert with its opt-in",
    kind: "repeatable write",
    call: ({ v1 }, o) => v1.customers.upsert({ email: "new@example.com", email_opt_in: "SUBSCRIBED" }, o),
  },
  {
    name: "addContact with its opt-in",
    kind: "repeatable write",
    call: ({ v1 }, o) =>
      v1.contactGroups.addContact("list-1", { email: "new@example.com", email_opt_in: "NON_SUBSCRIBED" }, o),
  },
  {
    name: "v2 upsert with its status",
    kind: "repeatable write",
    call: ({ v2 }, o) =>
      v2.contacts.upsert({ firstName: "Ada", listIds: ["list-1"], identifiers: [identifier] }, o),
  },
  {
    name: "customers.upsert without email_opt_in",
    kind: "unrepeatable write",
    call: ({ v1 }, o) => v1.customers.upsert({ email: "new@example.com" }, o),
  },
  {
    name: "customers.upsert of a phone without phone_opt_in",
    kind: "unrepeatable write",
    call: ({ v1 }, o) =>
      v1.customers.upsert({ email: "new@example.com", email_opt_in: "SUBSCRIBED", phone: "+15550100" }, o),
  },
  {
    name: "addContact that leaves consent to the service",
    kind: "unrepeatable write",
    call: ({ v1 }, o) =>
      v1.contactGroups.addContact(
        "list-1",
        { email: "new@example.com" },
        { ...o, consent: "service-decides" },
      ),
  },
  {
    name: "customers.upsert with double_opt_in",
    kind: "unrepeatable write",
    call: ({ v1 }, o) =>
      v1.customers.upsert({ email: "new@example.com", email_opt_in: "SUBSCRIBED", double_opt_in: true }, o),
  },
  {
    name: "v2 upsert of an identifier without its own channel's status",
    kind: "unrepeatable write",
    call: ({ v2 }, o) =>
      v2.contacts.upsert(
        {
          firstName: "Ada",
          listIds: [],
          identifiers: [identifier, { type: "phone", id: "+15550100", channels, consent }],
        },
        o,
      ),
  },
  {
    name: "v2 upsert with triggerWelcomeEmail",
    kind: "unrepeatable write",
    call: ({ v2 }, o) =>
      v2.contacts.upsert(
        { firstName: "Ada", listIds: [], identifiers: [identifier], triggerWelcomeEmail: true },
        o,
      ),
  },
];

/** The only contact at the start. */
const seed = {
  id: "org",
  apiKeys: ["matrix-key-0123456789"],
  appId: "app",
  welcomeFlow: true,
  lists: [{ id: "list-1", name: "Newsletter" }],
  contacts: [{ id: "contact-1", email: "ada@example.com", email_opt_in: "SUBSCRIBED" }],
  automations: [
    { name: "Thanks", on: { event: "order placed" } },
    { name: "Hello", on: { listId: "list-1" } },
  ],
};

/** A mock with a stopped clock, so that its states can be compared. */
export function comparableMock(options: MockServiceOptions = {}): MockService {
  return createMockService({ organizations: [seed], clock: () => Date.UTC(2026, 10, 21), ...options });
}
