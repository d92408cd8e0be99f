/** What the mock's books hold: plain objects, each a copy. */
export interface MockBooks {
  /** Every contact, in the order in which they came to be. */
  contacts: MockContact[];
  /** Lists and segments. */
  groups: MockGroup[];
  /** Who is in which list. */
  memberships: MockMembership[];
  /** The timelines of all contacts, oldest first. */
  events: MockEvent[];
  /** "subscribed to list", once for each contact and list. */
  triggers: MockTrigger[];
  /** One for each time that an automation was set off. */
  automationRuns: MockAutomationRun[];
  /** One for each welcome e-mail that a v2 upsert asked for, where a flow is configured. */
  welcomeEmails: MockWelcomeEmail[];
}

/** A contact as stored: the v1 names, whichever family wrote it. */
export interface MockContact {
  /** The profile's `id`, which is also its `contactUUID`. */
  id: string;
  /** As it was last written. */
  email?: string;
  /** As it was last written. */
  phone?: string;
  /** The integrator's own identifier of the person. */
  external_id?: string;
  /** v2: `firstName`. */
  first_name?: string;
  /** v2: `lastName`. */
  last_name?: string;
  /** `SUBSCRIBED`, `NON_SUBSCRIBED` or `UNSUBSCRIBED`; a v2 status in upper case. */
  email_opt_in: string;
  /** As `email_opt_in`, for SMS and phone messaging. */
  phone_opt_in: string;
  /** `false` where nothing was said. */
  is_suppressed: boolean;
  /** `false` where nothing was said. */
  double_opt_in: boolean;
  /** `api` where nothing was said. */
  source: string;
  /** Day of birth, `YYYY-MM-DD`. v2: `birthDate`. */
  dob?: string;
  /** v2: `m` and `f` become `MALE` and `FEMALE`, anything else stays as it was sent. */
  gender?: string;
  /** As a code of two letters, where the name is known. */
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
  /** Texts alone: numbers and booleans became texts, blank texts were dropped ("Custom property value rules"). */
  custom_properties?: Record<string, string>;
  /** When it came to be, ISO 8601. */
  created: string;
  /** When it was last written, ISO 8601. */
  updated: string;
  /** The consent of each v2 identifier, the latest. */
  consents?: MockConsent[];
  /** v2 fields that have no v1 name, `provinceCode` among them. */
  other_fields?: Record<string, unknown>;
}

/** The consent that came with a v2 identifier. */
export interface MockConsent {
  /** `email` or `phone`. */
  type: string;
  /** The e-mail address or the phone number, as text. */
  id: string;
  /** When it was given, as it was sent. */
  createdAt: string;
  /** From where it was given. */
  ip: string;
  /** How it was given. */
  source: string;
}

/** A list or a segment. */
export interface MockGroup {
  /** The id in paths of v1, the `uuid` of v2. */
  id: string;
  /** Display name. */
  name: string;
  /** A segment cannot be joined, but by the variant `canAddToSegment`. */
  type: "LIST" | "SEGMENT";
  /** Free text. */
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

/** A custom event on a contact's timeline: one for each `uniqueIdentifier`, however often it was sent. */
export interface MockEvent {
  /** The mock's own, one for each record. */
  id: string;
  /** Whose timeline it stands on. */
  contactId: string;
  /** As it was sent. */
  eventName: string;
  /** As it was sent. Events without one are recorded each time. */
  uniqueIdentifier?: string;
  /** As it was sent. */
  contact?: Record<string, unknown>;
  /** As it was sent. */
  eventData?: Record<string, unknown>;
  /** ISO 8601. */
  recordedAt: string;
}

/** The trigger that joining a list fires: once for each contact and list, however often it joins. */
export interface MockTrigger {
  /** The only one that the document names. */
  name: "subscribed to list";
  /** Who joined. */
  contactId: string;
  /** Which list. */
  listId: string;
  /** ISO 8601. */
  firedAt: string;
}

/** One run of an automation, for one contact. */
export interface MockAutomationRun {
  /** The automation's `name`. */
  automation: string;
  /** Who set it off. */
  contactId: string;
  /** What set it off: the automation's own `on`. */
  on: { event: string } | { listId: string };
  /** ISO 8601. */
  startedAt: string;
}

/** A welcome e-mail that went out. */
export interface MockWelcomeEmail {
  /** To whom. */
  contactId: string;
  /** To which address. */
  email: string;
  /** ISO 8601. */
  sentAt: string;
}
