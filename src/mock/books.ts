/** What the mock's books hold: plain objects, each a copy. */
export interface MockBooks {
  contacts: MockContact[];
  groups: MockGroup[];
  memberships: MockMembership[];
  /** The timelines of all contacts, oldest first. */
  events: MockEvent[];
  /** "subscribed to list", once for each contact and list. */
  triggers: MockTrigger[];
  automationRuns: MockAutomationRun[];
  welcomeEmails: MockWelcomeEmail[];
}

/** A contact as stored: the v1 names, whichever family wrote it. */
export interface MockContact {
  id: string;
  email?: string;
  phone?: string;
  external_id?: string;
  first_name?: string;
  last_name?: string;
  email_opt_in: string;
  phone_opt_in: string;
  is_suppressed: boolean;
  double_opt_in: boolean;
  source: string;
  dob?: string;
  gender?: string;
  country?: string;
  state?: string;
  city?: string;
  address1?: string;
  address2?: string;
  postal_code?: string;
  custom_properties?: Record<string, string>;
  /** ISO 8601. */
  created: string;
  updated: string;
  /** The consent of each v2 identifier, the latest. */
  consents?: MockConsent[];
  /** v2 fields that have no v1 name, `provinceCode` among them. */
  other_fields?: Record<string, unknown>;
}

export interface MockConsent {
  type: string;
  id: string;
  createdAt: string;
  ip: string;
  source: string;
}

export interface MockGroup {
  id: string;
  name: string;
  type: "LIST" | "SEGMENT";
  description?: string;
  /** Unix time in seconds. */
  created_at: number;
}

export interface MockMembership {
  listId: string;
  contactId: string;
  joinedAt: string;
}

export interface MockEvent {
  id: string;
  contactId: string;
  eventName: string;
  uniqueIdentifier?: string;
  contact?: Record<string, unknown>;
  eventData?: Record<string, unknown>;
  recordedAt: string;
}

export interface MockTrigger {
  name: "subscribed to list";
  contactId: string;
  listId: string;
  firedAt: string;
}

export interface MockAutomationRun {
  automation: string;
  contactId: string;
  on: { event: string } | { listId: string };
  startedAt: string;
}

export interface MockWelcomeEmail {
  contactId: string;
  email: string;
  sentAt: string;
}
