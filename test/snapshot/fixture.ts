import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AudienceClient, type V1OptIn } from "audience-sdk";
import { createMockService, type MockServiceOptions } from "audience-sdk/mock";
import type { SnapshotContact } from "audience-sdk/snapshot";
import { onTestFinished } from "vitest";
import type { Person as Row, Table } from "../../examples/recipes/nightly/people.ts";
import { Dice } from "../chaos/dice.ts";

type ClientOptions = NonNullable<ConstructorParameters<typeof AudienceClient>[0]>;
type Fetch = NonNullable<ClientOptions["fetch"]>;

/** The contacts `person-0@example.com` and on, each with a phone. */
export function people(count: number) {
  return Array.from({ length: count }, (_, index) => ({
    id: `id-${index}`,
    email: `person-${index}@example.com`,
    phone: `+4917100${String(index).padStart(5, "0")}`,
    first_name: "Ada",
    email_opt_in: "SUBSCRIBED" as const,
  }));
}

/** An organization `acme` with so many contacts, a client of it, and a folder for snapshots. */
export function createAudience(
  count: number,
  { clientOptions = {}, ...mockOptions }: MockServiceOptions & { clientOptions?: ClientOptions } = {},
) {
  const mock = createMockService({
    organizations: [
      {
        id: "acme",
        apiKeys: ["mock-key-acme", "mock-key-acme-2"],
        appId: "app-acme",
        contacts: people(count),
      },
      { id: "globex", apiKeys: ["mock-key-globex"], appId: "app-globex", contacts: people(1) },
    ],
    ...mockOptions,
    variants: { v1Paging: "totals", ...mockOptions.variants },
  });
  const client = (options: ClientOptions = {}) =>
    new AudienceClient({
      baseUrl: "https://api.example",
      apiKey: "mock-key-acme",
      fetch: mock.fetch,
      rateLimiter: false,
      maxRetries: 0,
      ...clientOptions,
      ...options,
    });
  const folder = temporaryFolder();
  const file = join(folder, "audience.ndjson");
  return { mock, client, audience: client(), folder, file };
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "snapshot-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** The lines of a file, parsed. */
export function linesOf(file: string): Record<string, unknown>[] {
  const text = readFileSync(file, "utf8");
  // Safe: the tests compare them.
  return text
    .split("\n")
    .flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Record<string, unknown>]));
}

export async function collect<T>(values: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = [];
  for await (const value of values) collected.push(value);
  return collected;
}

/** A fetch that fails from this request on, as a process that is killed sends no more. */
export function failingFrom(request: number, fetch: Fetch): Fetch {
  let count = 0;
  return async (url, init) => {
    count += 1;
    if (count >= request) throw new TypeError("killed");
    return await fetch(url, init);
  };
}

type Shown = Omit<SnapshotContact, "attributes">;

interface Person {
  readonly id: string;
  readonly email: string;
  /** What the service stores; items of some people never show it. */
  consents: Pick<Shown, "email_opt_in" | "phone_opt_in" | "is_suppressed">;
  readonly isShown: boolean;
  changed: number;
}

const strictness = [undefined, false, "SUBSCRIBED", "NON_SUBSCRIBED", "UNSUBSCRIBED", true];

/** A contact as it came last, with the stricter consents of the two. */
function stricter(last: Shown, before: Shown | undefined): Shown {
  const merged: Record<string, unknown> = { ...last };
  for (const name of ["email_opt_in", "phone_opt_in", "is_suppressed"] as const) {
    const rank = (contact: Shown | undefined) => strictness.indexOf(contact?.[name]);
    if (rank(before) > rank(last)) merged[name] = before?.[name];
  }
  // Safe: of the same members.
  return merged as unknown as Shown;
}

const orders = ["created", "newest", "updated"] as const;
const states = ["SUBSCRIBED", "NON_SUBSCRIBED", "UNSUBSCRIBED"] as const;

/**
 * A service with an audience that changes while its list is read: contacts are made, changed, deleted and unsubscribed
 * between the pages. It remembers what it has shown.
 */
export class World {
  /** What it has shown last of each contact since the last read began. */
  shown = new Map<string, Shown>();
  readonly dice: Dice;
  readonly #order: (typeof orders)[number];
  readonly #pageSize: number;
  readonly #unrest: number;
  #people: Person[] = [];
  #count = 0;
  #time = 0;

  constructor(seed: number) {
    this.dice = new Dice(seed);
    this.#order = this.dice.pick(orders);
    this.#pageSize = this.dice.int(3, 12);
    this.#unrest = this.dice.pick([0, 0, 0.5, 2]);
    // If no consent were shown, every question would be refused.
    this.#create(true);
    for (let count = this.dice.int(1, 60); count > 0; count--) this.#create();
  }

  /** A page, and what happens after it. */
  readonly fetch = async (url: string): Promise<Response> => {
    const page = Number(new URL(url).searchParams.get("page"));
    if (page === 1) this.shown = new Map();
    const end = page * this.#pageSize;
    const list = this.#listed();
    const data = list.slice(end - this.#pageSize, end).map((person) => this.#show(person));
    for (const item of data) this.shown.set(item.id, stricter(item, this.shown.get(item.id)));
    this.happen(this.#unrest);
    return Response.json({ data, total_items: list.length, items_per_page: this.#pageSize });
  };

  /** Some changes; `mean` of them on average. */
  happen(mean: number): void {
    for (let left = mean; left > 0; left--) if (this.dice.next() < left) this.#change();
  }

  #listed(): Person[] {
    if (this.#order === "created") return this.#people;
    if (this.#order === "newest") return this.#people.toReversed();
    return this.#people.toSorted((one, other) => other.changed - one.changed);
  }

  #change(): void {
    const person = this.dice.pick(this.#people);
    const what = this.dice.pick(["create", "change", "unsubscribe", "suppress", "touch", "delete"] as const);
    if (what === "create") return this.#create();
    // The first person is always there.
    if (what === "delete" && person.id !== "id-0")
      this.#people = this.#people.filter((each) => each !== person);
    person.changed = this.#time += 1;
    const { consents } = person;
    if (what === "change") person.consents = { ...consents, phone_opt_in: this.dice.pick(states) };
    if (what === "unsubscribe") person.consents = { ...consents, email_opt_in: "UNSUBSCRIBED" };
    if (what === "suppress") person.consents = { ...consents, is_suppressed: this.dice.chance(0.5) };
  }

  #create(isShown = this.dice.chance(0.8)): void {
    const id = `id-${this.#count}`;
    this.#count += 1;
    this.#time += 1;
    const consents = { email_opt_in: this.dice.pick(states) };
    this.#people.push({ id, email: `${id}@example.com`, consents, isShown, changed: this.#time });
  }

  #show({ id, email, consents, isShown }: Person): Shown {
    return { id, email, ...(isShown && consents) };
  }
}

/** The table of the recipe for a nightly job, in memory. */
export class MemoryTable implements Table {
  readonly #people = new Map<string, Row>();

  async all(): Promise<Row[]> {
    return [...this.#people.values()];
  }

  async get(email: string): Promise<Row | undefined> {
    return this.#people.get(email);
  }

  async refuse(email: string, at: Date): Promise<void> {
    const person = this.#people.get(email);
    if (person?.email_opt_in === "UNSUBSCRIBED" || !person || person.consent_at >= at.toISOString()) return;
    this.#set({ ...person, email_opt_in: "UNSUBSCRIBED" }, at);
  }

  setCity(email: string, city: string): void {
    const person = this.#people.get(email);
    if (person) this.#people.set(email, { ...person, city });
  }

  /** What she has said on the website, now. */
  setConsent(email: string, consent: V1OptIn): void {
    this.#set({ city: "Bern", ...this.#people.get(email), email, email_opt_in: consent }, new Date());
  }

  consents(): Record<string, V1OptIn> {
    return Object.fromEntries(
      [...this.#people.values()].map((person) => [person.email, person.email_opt_in]),
    );
  }

  #set(person: Omit<Row, "consent_at">, at: Date): void {
    this.#people.set(person.email, { ...person, consent_at: at.toISOString() });
  }
}
