import { Refusal } from "../refusal.ts";
import { contactFieldsOf, checkV1Contact } from "../v1/rules.ts";
import type { SavedOrganization } from "./consent-log.ts";
import type { MockConsentChange } from "./organization-state.ts";
import { Organization, type Sources } from "./organization.ts";
import type { MockContactSeed, MockOrganizationSeed } from "./seed.ts";

/** All organizations, and their keys. */
export class Organizations {
  readonly organizations: readonly Organization[];
  readonly #byKey = { v1: new Map<string, Organization>(), v2: new Map<string, Organization>() };
  readonly #sources: Sources;
  /** Those of a saved state: the same `seed` gives them again. */
  readonly #savedIds = new Set<string>();

  constructor(seeds: readonly MockOrganizationSeed[], given: Sources) {
    const sources = { ...given, nextId: () => this.#unusedId(given.nextId) };
    this.#sources = sources;
    this.organizations = seeds.map((seed) => {
      const organization = new Organization(seed, sources);
      this.#register("v1", seed.apiKeys, organization);
      this.#register("v2", seed.apiKeysV2 ?? seed.apiKeys, organization);
      for (const contact of seed.contacts ?? []) seedContact(organization, contact, sources);
      return organization;
    });
  }

  /** The organization of a key ("A key belongs to exactly one organization"). */
  byKey(family: "v1" | "v2", key: string): Organization | undefined {
    return this.#byKey[family].get(key);
  }

  /** By its id, or by any of its keys. */
  organization(idOrApiKey: string): Organization {
    const found = this.organizations.find(({ seed }) => seed.id === idOrApiKey) ?? this.#ownerOf(idOrApiKey);
    if (found) return found;
    const ids = this.organizations.map(({ seed }) => seed.id).join(", ");
    throw new TypeError(`no organization has the id or key "${idOrApiKey}"; there are: ${ids}`);
  }

  /** Takes over saved states, by the ids of their organizations. People whom a state never knew stay seeded. */
  restore(saved: Readonly<Record<string, SavedOrganization>>): void {
    for (const { contacts, events } of Object.values(saved))
      for (const { id } of [...contacts, ...events]) this.#savedIds.add(id);
    for (const organization of this.organizations) {
      const state = saved[organization.seed.id];
      if (state === undefined) continue;
      organization.restore(state);
      // An address that they had counts: a person whose e-mail was changed would come back without her refusal.
      const had = new Set(state.consentHistory.flatMap(({ email, phone }) => [email, phone]));
      const isKnown = (name: string | undefined) =>
        name !== undefined && (had.has(name) || organization.person(name) !== undefined);
      for (const contact of organization.seed.contacts ?? [])
        if (![contact.id, contact.email, contact.phone].some(isKnown))
          seedContact(organization, contact, this.#sources);
    }
  }

  #unusedId(nextId: () => string): string {
    let id = nextId();
    while (this.#savedIds.has(id)) id = nextId();
    return id;
  }

  #ownerOf(key: string): Organization | undefined {
    return this.byKey("v1", key) ?? this.byKey("v2", key);
  }

  #register(family: "v1" | "v2", keys: readonly string[], organization: Organization): void {
    for (const key of keys) {
      const owner = this.#ownerOf(key);
      if (owner && owner !== organization)
        throw new TypeError(
          `organizations "${owner.seed.id}" and "${organization.seed.id}" have the same key`,
        );
      this.#byKey[family].set(key, organization);
    }
  }
}

/** Copies of the entries that went over a refusal, of all organizations in order of time. */
export function resubscriptionsOf({ organizations }: Organizations): MockConsentChange[] {
  const entries = organizations.flatMap(({ resubscriptions }) => resubscriptions);
  return structuredClone(entries).sort((one, other) => one.at.localeCompare(other.at));
}

/** A seed's contact follows the same rules as a request. */
function seedContact(
  organization: Organization,
  { id, lists = [], created, updated, ...fields }: MockContactSeed,
  sources: Sources,
): void {
  try {
    const body: unknown = fields;
    checkV1Contact(body);
    const write = contactFieldsOf(body, { ...sources.variants, doubleOptIn: "recorded" });
    if (organization.find(write)) throw new Refusal(400, "its email or phone is that of an earlier one");
    const { contact } = organization.write(write, { by: "seed", id, created });
    contact.updated = updated ?? contact.created;
    for (const listId of lists) {
      if (organization.group(listId) === undefined) throw new Refusal(400, `there is no list "${listId}"`);
      organization.enroll(contact, listId);
    }
  } catch (error) {
    /* v8 ignore next -- @preserve a defect of the mock itself */
    if (!(error instanceof Refusal)) throw error;
    const name = fields.email ?? fields.phone ?? id ?? "without email and phone";
    throw new TypeError(`organization "${organization.seed.id}", contact ${name}: ${error.message}`, {
      cause: error,
    });
  }
}
