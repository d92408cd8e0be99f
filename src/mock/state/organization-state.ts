import type { MockOperation } from "../operations.ts";

/** The state of one organization: plain objects, each a copy. */
export interface MockOrganizationState {
  /** All contacts, in order of creation. */
  contacts: MockContact[];
  /** Lists and segments. */
  groups: MockGroup[];
  /** The members of all lists. */
  memberships: MockMembership[];
  /** The timelines of all contacts, oldest first. */
  events: MockEvent[];
  /** "subscribed to list", once per contact and list. */
  triggers: MockTrigger[];
  /** One for each run of an automation. */
  automationRuns: MockAutomationRun[];
  /** One for each welcome e-mail that a v2 upsert asked for, if a flow is configured. */
  welcomeEmails: MockWelcomeEmail[];
  /** One for each attempt to call a receiver, in order of sending. */
  webhookCalls: MockWebhookCall[];
  /** Every change of a consent, oldest first: by a seed, a request, or a person at the service. */
  consentHistory: MockConsentChange[];
}

/** A stored contact, with the v1 names, whichever family wrote it. */
export interface MockContact {
  /** The profile's `id`, the same as its `contactUUID`. */
  id: string;
  /** The last written value. */
  email?: string;
  /** The last written value. */
  phone?: string;
  /** The integrator's identifier of the person. */
  external_id?: string;
  /** v2: `firstName`. */
  first_name?: string;
  /** v2: `lastName`. */
  last_name?: string;
  /** `SUBSCRIBED`, `NON_SUBSCRIBED` or `UNSUBSCRIBED`; a v2 status in upper case. */
  email_opt_in: string;
  /** The same for SMS and phone messaging. */
  phone_opt_in: string;
  /** Default `false`. */
  is_suppressed: boolean;
  /** Default `false`. */
  double_opt_in: boolean;
  /** Default `api`. */
  source: string;
  /** Day of birth, `YYYY-MM-DD`. v2: `birthDate`. */
  dob?: string;
  /** v2: `m` and `f` become `MALE` and `FEMALE`; other values stay as they were sent. */
  gender?: string;
  /** A code of two letters, if the name is known. */
  country?: string;
  /** Name of the state or province. */
  state?: string;
  /** Name of the city. */
  city?: string;
  /** First line of the address. */
  address1?: string;
  /** Second line of the address. */
  address2?: string;
  /** v2: `postalCode`. */
  postal_code?: string;
  /** Only strings: numbers and booleans became strings, blank strings were dropped ("Custom property value rules"). */
  custom_properties?: Record<string, string>;
  /** Time of creation, ISO 8601. */
  created: string;
  /** Time of the last write, ISO 8601. */
  updated: string;
  /** The latest consent of each v2 identifier. */
  consents?: MockConsent[];
  /** v2 fields without a v1 name, such as `provinceCode`. */
  other_fields?: Record<string, unknown>;
}

/** The consent of a v2 identifier. */
export interface MockConsent {
  /** `email` or `phone`. */
  type: string;
  /** The e-mail address or the phone number, as a string. */
  id: string;
  /** The time of the consent, as sent. */
  createdAt: string;
  /** The IP address of the consent. */
  ip: string;
  /** The source of the consent. */
  source: string;
}

/** A list or a segment. */
export interface MockGroup {
  /** The id in paths of v1, the `uuid` of v2. */
  id: string;
  /** Display name. */
  name: string;
  /** Contacts can be added to a segment only with the variant `canAddToSegment`. */
  type: "LIST" | "SEGMENT";
  /** The description. */
  description?: string;
  /** Unix time in seconds. */
  created_at: number;
}

/** A contact in a list. */
export interface MockMembership {
  /** The list's `id`. */
  listId: string;
  /** The contact's `id`. */
  contactId: string;
  /** ISO 8601. */
  joinedAt: string;
}

/** A custom event on a contact's timeline: one per `uniqueIdentifier`, however often it was sent. */
export interface MockEvent {
  /** The mock's id of the record. */
  id: string;
  /** The contact's `id`. */
  contactId: string;
  /** As sent. */
  eventName: string;
  /** As sent. Events without one are recorded each time. */
  uniqueIdentifier?: string;
  /** As sent. */
  contact?: Record<string, unknown>;
  /** As sent. */
  eventData?: Record<string, unknown>;
  /** ISO 8601. */
  recordedAt: string;
}

/** The trigger of joining a list: it fires once per contact and list, however often the contact joins. */
export interface MockTrigger {
  /** The only trigger in the document. */
  name: "subscribed to list";
  /** The contact's `id`. */
  contactId: string;
  /** The list's `id`. */
  listId: string;
  /** ISO 8601. */
  firedAt: string;
}

/** One run of an automation, for one contact. */
export interface MockAutomationRun {
  /** The automation's `name`. */
  automation: string;
  /** The `id` of the contact that triggered it. */
  contactId: string;
  /** The `id` of the event that started it; absent if joining a list did. */
  eventId?: string;
  /** The automation's `on`. */
  on: { event: string } | { listId: string };
  /** ISO 8601. */
  startedAt: string;
}

/** A sent welcome e-mail. */
export interface MockWelcomeEmail {
  /** The contact's `id`. */
  contactId: string;
  /** The address. */
  email: string;
  /** ISO 8601. */
  sentAt: string;
}

/** One attempt of a webhook step to call its receiver. */
export interface MockWebhookCall {
  /** The automation's `name`. */
  automation: string;
  /** The `id` of the contact that reached the step. */
  contactId: string;
  /** The `id` of the event that started the automation; absent if joining a list did. */
  eventId?: string;
  /** The receiver. */
  url: string;
  /** The JSON that was sent. */
  body: unknown;
  /** The status of the receiver's response; absent before it, and if there was none. */
  status?: number;
  /** Why there was no response, for example a refused connection or a timeout. */
  error?: string;
  /** ISO 8601. */
  sentAt: string;
}

/** One change of one consent of a contact. */
export interface MockConsentChange {
  /** The contact's `id`. */
  contactId: string;
  /** Its address after the change. */
  email?: string;
  /** Its number after the change. */
  phone?: string;
  /** `suppressed` is `is_suppressed`. */
  channel: "email" | "phone" | "suppressed";
  /** The value before; absent for a new contact. */
  from?: string | boolean;
  /** The value after: the opt-in, or whether the contact is suppressed. */
  to: string | boolean;
  /** A person (`mock.unsubscribe`, `mock.confirm`), the seed, or the operation of the request. */
  by: "person" | "seed" | MockOperation;
  /** ISO 8601. */
  at: string;
}
