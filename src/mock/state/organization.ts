import type { MockVariants } from "../variants.ts";
import type { WebhookCaller } from "../webhooks.ts";
import { triggeredBy } from "./automations.ts";
import { contactChanges, nameOfContact, type StateChange } from "./changes.ts";
import { ConsentLog, type SavedOrganization } from "./consent-log.ts";
import { consentChanges } from "./consents.ts";
import { type ContactFields, mergedFields, newContact, type OmittedConsents } from "./contact-fields.ts";
import { ContactIndex } from "./contact-index.ts";
import { Memberships } from "./memberships.ts";
import type {
  MockOrganizationState,
  MockConsentChange,
  MockContact,
  MockEvent,
  MockGroup,
} from "./organization-state.ts";
import type { MockOrganizationSeed } from "./seed.ts";

interface WriteOptions extends Pick<MockConsentChange, "by">, OmittedConsents {
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
  /** Told of each change. */
  changed: (change: StateChange) => void;
}

/** One organization's state and its transitions. It knows nothing of HTTP. */
export class Organization {
  readonly seed: MockOrganizationSeed;
  readonly #sources: Sources;
  #rows: Omit<MockOrganizationState, "groups" | "memberships" | "consentHistory"> = {
    contacts: [],
    events: [],
    triggers: [],
    automationRuns: [],
    welcomeEmails: [],
    webhookCalls: [],
  };
  #consents = new ConsentLog();
  #index: ContactIndex;
  readonly #groups = new Map<string, MockGroup>();
  #memberships = new Memberships();
  readonly #eventIdentifiers = new Set<string | undefined>();
  readonly #firedTriggers = new Set<string>();

  constructor(seed: MockOrganizationSeed, sources: Sources) {
    this.seed = seed;
    this.#sources = sources;
    this.#index = new ContactIndex(sources.variants);
    for (const { id, name, type = "LIST", description, created_at } of seed.lists ?? []) {
      const createdAt = created_at ?? Math.floor(Date.parse(sources.nowIso()) / 1_000);
      const group: MockGroup = { id, name, type, created_at: createdAt };
      if (description !== undefined) group.description = description;
      this.#groups.set(id, group);
    }
  }

  contact(id: string): MockContact | undefined {
    return this.#index.byId(id);
  }

  contacts(order: MockVariants["v1CustomerOrder"] = "created"): readonly MockContact[] {
    return this.#index.inOrder(this.#rows.contacts, order);
  }

  group(id: string): MockGroup | undefined {
    return this.#groups.get(id);
  }

  groups(type: "LIST" | "SEGMENT" | "ALL"): MockGroup[] {
    return [...this.#groups.values()].filter((group) => type === "ALL" || group.type === type);
  }

  /** The contact "with the same email or phone". */
  find(fields: Pick<MockContact, "email" | "phone">): MockContact | undefined {
    return this.#index.find(fields);
  }

  /** By id, e-mail address or phone number. */
  person(name: string): MockContact | undefined {
    return this.contact(name) ?? this.find({ email: name }) ?? this.find({ phone: name });
  }

  /** The entries of `consentHistory` that went over a refusal. */
  get resubscriptions(): readonly MockConsentChange[] {
    return this.#consents.resubscriptions;
  }

  decide(contact: MockContact, channel: "email" | "phone", optIn: "SUBSCRIBED" | "UNSUBSCRIBED"): void {
    const field = `${channel}_opt_in` as const;
    if (contact[field] === optIn) this.#consents.say(contact.id, channel, optIn === "UNSUBSCRIBED");
    this.#change(contact, { [field]: optIn }, "person");
  }

  asksAgain(contact: MockContact, channel: MockConsentChange["channel"]): void {
    this.#consents.say(contact.id, channel, false);
    const named = { contact: nameOfContact(contact), contactId: contact.id };
    this.#sources.changed({ kind: "asks-again", organization: this.seed.id, ...named, channel });
  }

  /** Updates the matching contact, or creates one; the opt-ins follow "States and transitions". */
  write(
    fields: ContactFields,
    { by, id, created, ...omitted }: WriteOptions,
  ): { contact: MockContact; action: "created" | "updated" } {
    const existing = this.find(fields);
    const now = this.#sources.nowIso();
    const contact =
      existing ?? newContact(id ?? this.#sources.nextId(), { created: created ?? now, updated: now });
    const before: Partial<MockContact> = { ...existing };
    const { customProperties } = this.#sources.variants;
    const changed = mergedFields(before, fields, { ...omitted, customProperties });
    this.#change(contact, changed, by, before);
    if (existing === undefined) this.#rows.contacts.push(contact);
    return { contact, action: existing === undefined ? "created" : "updated" };
  }

  /** Makes a contact a member; the trigger fires once per contact and list. */
  join(contact: MockContact, listId: string): void {
    if (!this.enroll(contact, listId)) return;
    const trigger = triggerKey(listId, contact.id);
    if (this.#firedTriggers.has(trigger)) return;
    this.#firedTriggers.add(trigger);
    const firedAt = this.#sources.nowIso();
    this.#rows.triggers.push({ name: "subscribed to list", contactId: contact.id, listId, firedAt });
    this.#runAutomations(contact, { listId });
  }

  /** Makes a contact a member without a trigger, for seeds; `false` if it was a member. */
  enroll(contact: MockContact, listId: string): boolean {
    const joinedAt = this.#sources.nowIso();
    if (!this.#memberships.add({ listId, contactId: contact.id, joinedAt })) return false;
    this.#tellList(contact, listId, "joined");
    return true;
  }

  leaveAllBut(contact: MockContact, listIds: readonly string[]): void {
    for (const listId of this.#memberships.leaveAllBut(contact.id, listIds))
      this.#tellList(contact, listId, "left");
  }

  /** Records an event. Callers first check that its `uniqueIdentifier` is unknown ("retry-safe"). */
  record(contact: MockContact, sent: Omit<MockEvent, "id" | "contactId" | "recordedAt">): void {
    this.#eventIdentifiers.add(sent.uniqueIdentifier);
    const recordedAt = this.#sources.nowIso();
    const event = { id: this.#sources.nextId(), contactId: contact.id, ...sent, recordedAt };
    this.#rows.events.push(event);
    this.#sources.changed({ kind: "event", contact: nameOfContact(contact), eventName: event.eventName });
    this.#runAutomations(contact, event);
  }

  hasEvent(uniqueIdentifier: string | undefined): boolean {
    return uniqueIdentifier !== undefined && this.#eventIdentifiers.has(uniqueIdentifier);
  }

  /** Starts the welcome email flow "if one is configured", and if the contact has an e-mail address. */
  welcome(contact: MockContact): void {
    if (!this.seed.welcomeFlow || contact.email === undefined) return;
    const isWelcomed = this.#rows.welcomeEmails.some((mail) => mail.contactId === contact.id);
    if (isWelcomed && this.#sources.variants.welcomeEmail === "once") return;
    this.#rows.welcomeEmails.push({
      contactId: contact.id,
      email: contact.email,
      sentAt: this.#sources.nowIso(),
    });
    this.#sources.changed({ kind: "welcome-email", contact: contact.email });
  }

  /** A copy of the state, so that its reader cannot change it. */
  snapshot(): MockOrganizationState {
    return structuredClone(this.state());
  }

  /** The state itself: to be read only. */
  state(): MockOrganizationState {
    const { entries: consentHistory } = this.#consents;
    return {
      ...this.#rows,
      groups: this.groups("ALL"),
      memberships: this.#memberships.all(),
      consentHistory,
    };
  }

  /** What a file keeps: the state, and what people did that changed no consent. */
  saved(): SavedOrganization {
    return { ...this.state(), personalWords: this.#consents.words };
  }

  /** Takes over a saved state in place of its own. Lists that only its seed has stay. */
  restore(saved: SavedOrganization): void {
    const { groups, memberships, consentHistory, personalWords = [], ...rows } = structuredClone(saved);
    this.#rows = rows;
    this.#consents = ConsentLog.of(consentHistory, personalWords);
    this.#index = new ContactIndex(this.#sources.variants);
    for (const contact of rows.contacts) this.#index.add(contact);
    for (const group of groups) this.#groups.set(group.id, group);
    this.#memberships = new Memberships(memberships);
    for (const { uniqueIdentifier } of rows.events) this.#eventIdentifiers.add(uniqueIdentifier);
    for (const { listId, contactId } of rows.triggers) this.#firedTriggers.add(triggerKey(listId, contactId));
  }

  #change(
    contact: MockContact,
    fields: ContactFields,
    by: MockConsentChange["by"],
    before: Partial<MockContact> = { ...contact },
  ): void {
    const at = this.#sources.nowIso();
    this.#index.remove(contact);
    Object.assign(contact, fields, { updated: at });
    this.#index.add(contact);
    if (by !== "seed") this.#index.count(contact);
    const consents = consentChanges(before, contact, { by, at });
    const isOver = new Set(consents.filter((change) => this.#consents.add(change)));
    for (const change of contactChanges(before, contact, consents, isOver)) this.#sources.changed(change);
  }

  /** Runs each automation that the event, or joining the list, triggers. */
  #runAutomations(contact: MockContact, trigger: MockEvent | { listId: string }): void {
    const { nowIso, webhooks } = this.#sources;
    const startedAt = nowIso();
    const event = "eventName" in trigger ? trigger : undefined;
    for (const { name, on, webhook } of triggeredBy(trigger, this.seed.automations)) {
      const by = { contactId: contact.id, ...(event && { eventId: event.id }) };
      this.#rows.automationRuns.push({ automation: name, ...by, on, startedAt });
      const step = { automation: name, on, contact, ...(event && { event }) };
      const run = { kind: "automation", contact: nameOfContact(contact), automation: name } as const;
      this.#sources.changed({ ...run, ...(webhook !== undefined && { webhook: webhook.url }) });
      if (webhook !== undefined) webhooks.call(webhook.url, structuredClone(step), this.#rows.webhookCalls);
    }
  }

  #tellList(contact: MockContact, listId: string, action: "joined" | "left"): void {
    /* v8 ignore next -- @preserve who joins or leaves a list has been asked for one that is there */
    const list = this.#groups.get(listId)?.name ?? listId;
    this.#sources.changed({ kind: "list", contact: nameOfContact(contact), list, action });
  }
}

const triggerKey = (...ids: [listId: string, contactId: string]): string => JSON.stringify(ids);
