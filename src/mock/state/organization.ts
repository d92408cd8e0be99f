import type { MockVariants } from "../variants.ts";
import type { WebhookCaller } from "../webhooks.ts";
import { consentChanges, mergeConsents, nextOptIn, type OmittedOptIn } from "./consents.ts";
import type {
  MockAutomationRun,
  MockOrganizationState,
  MockConsentChange,
  MockContact,
  MockEvent,
  MockGroup,
  MockMembership,
  MockTrigger,
  MockWebhookCall,
  MockWelcomeEmail,
} from "./organization-state.ts";
import type { MockOrganizationSeed } from "./seed.ts";

/** The fields of a write; absent fields stay unchanged. */
export type ContactFields = Partial<Omit<MockContact, "id" | "created" | "updated">>;

interface WriteOptions extends Pick<MockConsentChange, "by"> {
  emailOptInOmitted?: OmittedOptIn;
  phoneOptInOmitted?: OmittedOptIn;
  /** Of a new contact; by default a new one. */
  id?: string | undefined;
  /** The creation time of a new contact; default now. */
  created?: string | undefined;
}

export interface Sources {
  variants: MockVariants;
  nowIso: () => string;
  nextId: () => string;
  webhooks: WebhookCaller;
}

/** One organization's state and its transitions. It knows nothing of HTTP. */
export class Organization {
  readonly seed: MockOrganizationSeed;
  readonly #sources: Sources;
  /** In order of creation, the order of the lists. */
  readonly #contacts: MockContact[] = [];
  readonly #byId = new Map<string, MockContact>();
  readonly #byEmail = new Map<string, MockContact>();
  readonly #byPhone = new Map<string, MockContact>();
  readonly #groups = new Map<string, MockGroup>();
  readonly #members = new Map<string, Map<string, MockMembership>>();
  readonly #events: MockEvent[] = [];
  readonly #eventIdentifiers = new Set<string>();
  readonly #triggers: MockTrigger[] = [];
  readonly #firedTriggers = new Set<string>();
  readonly #automationRuns: MockAutomationRun[] = [];
  readonly #webhookCalls: MockWebhookCall[] = [];
  readonly #welcomeEmails: MockWelcomeEmail[] = [];
  readonly #consentHistory: MockConsentChange[] = [];

  constructor(seed: MockOrganizationSeed, sources: Sources) {
    this.seed = seed;
    this.#sources = sources;
    for (const { id, name, type = "LIST", description, created_at } of seed.lists ?? []) {
      const createdAt = created_at ?? Math.floor(Date.parse(sources.nowIso()) / 1_000);
      const group: MockGroup = { id, name, type, created_at: createdAt };
      if (description !== undefined) group.description = description;
      this.#groups.set(id, group);
    }
  }

  contact(id: string): MockContact | undefined {
    return this.#byId.get(id);
  }

  contacts(order: MockVariants["v1CustomerOrder"] = "created"): readonly MockContact[] {
    if (order === "created") return this.#contacts;
    const newest = this.#contacts.toReversed();
    if (order === "newest") return newest;
    return newest.sort((one, other) => Date.parse(other.updated) - Date.parse(one.updated));
  }

  group(id: string): MockGroup | undefined {
    return this.#groups.get(id);
  }

  groups(type: "LIST" | "SEGMENT" | "ALL"): MockGroup[] {
    return [...this.#groups.values()].filter((group) => type === "ALL" || group.type === type);
  }

  /** The contact "with the same email or phone". */
  find({ email, phone }: Pick<MockContact, "email" | "phone">): MockContact | undefined {
    const byEmail = email === undefined ? undefined : this.#byEmail.get(this.#emailKey(email));
    const byPhone = phone === undefined ? undefined : this.#byPhone.get(phone);
    return this.#sources.variants.matchFirst === "email" ? (byEmail ?? byPhone) : (byPhone ?? byEmail);
  }

  /** By id, e-mail address or phone number. */
  person(name: string): MockContact | undefined {
    return this.contact(name) ?? this.find({ email: name }) ?? this.find({ phone: name });
  }

  decide(contact: MockContact, channel: "email" | "phone", optIn: "SUBSCRIBED" | "UNSUBSCRIBED"): void {
    this.#change(contact, { [`${channel}_opt_in`]: optIn }, "person");
  }

  /** Updates the matching contact, or creates one; the opt-ins follow "States and transitions". */
  write(
    fields: ContactFields,
    { by, emailOptInOmitted = "kept", phoneOptInOmitted = "kept", id, created }: WriteOptions,
  ): { contact: MockContact; action: "created" | "updated" } {
    const existing = this.find(fields);
    const now = this.#sources.nowIso();
    const contact: MockContact = existing ?? {
      id: id ?? this.#sources.nextId(),
      email_opt_in: "NON_SUBSCRIBED",
      phone_opt_in: "NON_SUBSCRIBED",
      is_suppressed: false,
      double_opt_in: false,
      source: "api",
      created: created ?? now,
      updated: now,
    };
    const before: Partial<MockContact> = { ...existing };
    const changed: ContactFields = {
      ...fields,
      email_opt_in: nextOptIn(before.email_opt_in, fields.email_opt_in, emailOptInOmitted),
      phone_opt_in: nextOptIn(before.phone_opt_in, fields.phone_opt_in, phoneOptInOmitted),
    };
    if (fields.custom_properties !== undefined && this.#sources.variants.customProperties === "merged") {
      changed.custom_properties = { ...before.custom_properties, ...fields.custom_properties };
    }
    if (fields.other_fields !== undefined)
      changed.other_fields = { ...before.other_fields, ...fields.other_fields };
    if (fields.consents !== undefined) changed.consents = mergeConsents(before.consents, fields.consents);
    this.#change(contact, changed, by, before);
    if (existing === undefined) this.#contacts.push(contact);
    return { contact, action: existing === undefined ? "created" : "updated" };
  }

  /** Makes a contact a member; the trigger fires once per contact and list. */
  join(contact: MockContact, listId: string): void {
    if (!this.enroll(contact, listId)) return;
    const trigger = JSON.stringify([listId, contact.id]);
    if (this.#firedTriggers.has(trigger)) return;
    this.#firedTriggers.add(trigger);
    this.#triggers.push({
      name: "subscribed to list",
      contactId: contact.id,
      listId,
      firedAt: this.#sources.nowIso(),
    });
    this.#runAutomations(contact, { listId });
  }

  /** Makes a contact a member without a trigger, for seeds; `false` if it was a member. */
  enroll(contact: MockContact, listId: string): boolean {
    const members = this.#members.get(listId) ?? new Map<string, MockMembership>();
    this.#members.set(listId, members);
    if (members.has(contact.id)) return false;
    members.set(contact.id, { listId, contactId: contact.id, joinedAt: this.#sources.nowIso() });
    return true;
  }

  leaveAllBut(contact: MockContact, listIds: readonly string[]): void {
    for (const [listId, members] of this.#members) if (!listIds.includes(listId)) members.delete(contact.id);
  }

  /** Records an event. Callers first check that its `uniqueIdentifier` is unknown ("retry-safe"). */
  record(contact: MockContact, sent: Omit<MockEvent, "id" | "contactId" | "recordedAt">): void {
    if (sent.uniqueIdentifier !== undefined) this.#eventIdentifiers.add(sent.uniqueIdentifier);
    const recordedAt = this.#sources.nowIso();
    const event = { id: this.#sources.nextId(), contactId: contact.id, ...sent, recordedAt };
    this.#events.push(event);
    this.#runAutomations(contact, event);
  }

  hasEvent(uniqueIdentifier: string | undefined): boolean {
    return uniqueIdentifier !== undefined && this.#eventIdentifiers.has(uniqueIdentifier);
  }

  /** Starts the welcome email flow "if one is configured", and if the contact has an e-mail address. */
  welcome(contact: MockContact): void {
    if (!this.seed.welcomeFlow || contact.email === undefined) return;
    const isWelcomed = this.#welcomeEmails.some((mail) => mail.contactId === contact.id);
    if (isWelcomed && this.#sources.variants.welcomeEmail === "once") return;
    this.#welcomeEmails.push({ contactId: contact.id, email: contact.email, sentAt: this.#sources.nowIso() });
  }

  /** A copy of the state, so that its reader cannot change it. */
  snapshot(): MockOrganizationState {
    return structuredClone({
      contacts: this.#contacts,
      groups: [...this.#groups.values()],
      memberships: [...this.#members.values()].flatMap((members) => Array.from(members.values())),
      events: this.#events,
      triggers: this.#triggers,
      automationRuns: this.#automationRuns,
      welcomeEmails: this.#welcomeEmails,
      webhookCalls: this.#webhookCalls,
      consentHistory: this.#consentHistory,
    });
  }

  #change(
    contact: MockContact,
    fields: ContactFields,
    by: MockConsentChange["by"],
    before: Partial<MockContact> = { ...contact },
  ): void {
    const at = this.#sources.nowIso();
    this.#unindex(contact);
    Object.assign(contact, fields, { updated: at });
    this.#index(contact);
    this.#consentHistory.push(...consentChanges(before, contact, { by, at }));
  }

  /** Runs each automation that the event, or joining the list, triggers. */
  #runAutomations(contact: MockContact, trigger: MockEvent | { listId: string }): void {
    const { nowIso, webhooks } = this.#sources;
    const startedAt = nowIso();
    for (const { name, on, webhook } of this.seed.automations ?? []) {
      const isTriggered =
        "event" in on
          ? "eventName" in trigger && trigger.eventName === on.event
          : "listId" in trigger && trigger.listId === on.listId;
      if (!isTriggered) continue;
      this.#automationRuns.push({ automation: name, contactId: contact.id, on, startedAt });
      if (webhook === undefined) continue;
      const step = { automation: name, on, contact, ...("eventName" in trigger && { event: trigger }) };
      webhooks.call(webhook.url, structuredClone(step), this.#webhookCalls);
    }
  }

  #emailKey(email: string): string {
    return this.#sources.variants.emailCase === "insensitive" ? email.toLowerCase() : email;
  }

  #index(contact: MockContact): void {
    this.#byId.set(contact.id, contact);
    if (contact.email !== undefined) setIfFree(this.#byEmail, this.#emailKey(contact.email), contact);
    if (contact.phone !== undefined) setIfFree(this.#byPhone, contact.phone, contact);
  }

  #unindex(contact: MockContact): void {
    if (contact.email !== undefined) deleteIfOwn(this.#byEmail, this.#emailKey(contact.email), contact);
    if (contact.phone !== undefined) deleteIfOwn(this.#byPhone, contact.phone, contact);
  }
}

function setIfFree(index: Map<string, MockContact>, key: string, contact: MockContact): void {
  if (!index.has(key)) index.set(key, contact);
}

function deleteIfOwn(index: Map<string, MockContact>, key: string, contact: MockContact): void {
  if (index.get(key) === contact) index.delete(key);
}
