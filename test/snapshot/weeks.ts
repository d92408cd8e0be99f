// Weeks of a nightly job: a website that writes beside it, people who leave at the service, and kills.
import { cpSync, mkdirSync, rmSync } from "node:fs";
import { AudienceClient, type Fetch } from "audience-sdk";
import { createMockService, type MockService } from "audience-sdk/mock";
import { vi } from "vitest";
import { night } from "../../examples/recipes/nightly/night.ts";
import type { Table } from "../../examples/recipes/nightly/people.ts";
import { Dice } from "../chaos/dice.ts";
import { MemoryTable } from "./fixture.ts";

const emails = Array.from({ length: 8 }, (_, index) => `person-${index}@example.com`);
const nights = 5;
const minuteMs = 60_000;

/** What a person has said, on the website or at the service. */
interface Word {
  readonly at: number;
  readonly refuses: boolean;
}

/** Plays a week. The clock must be a fake one. */
export async function playWeek(seed: number, folder: string): Promise<Week> {
  const week = new Week(seed, folder);
  for (let count = 0; count < nights; count += 1) {
    await week.day();
    await week.night();
  }
  return week;
}

class Week {
  /** Whom the table, or the service, calls subscribed after a night before which they had left. */
  readonly wrongs: string[] = [];
  readonly counts: Record<string, number> = {};
  readonly #dice: Dice;
  readonly #seed: number;
  readonly #table = new MemoryTable();
  readonly #mock: MockService;
  readonly #website: AudienceClient;
  readonly #pageSize: number;
  readonly #words: Readonly<Record<string, Word[]>> = Object.fromEntries(emails.map((email) => [email, []]));
  /** The calls of the website that are on their way, and of whom. */
  readonly #calls = new Map<string, Promise<unknown>>();
  #folder: string;

  constructor(seed: number, folder: string) {
    this.#seed = seed;
    this.#folder = `${folder}/${seed}-`;
    mkdirSync(this.#folder);
    this.#dice = new Dice(seed);
    this.#pageSize = this.#dice.int(2, 5);
    this.#mock = createMockService({
      organizations: [{ id: "acme", apiKeys: ["mock-key-job", "mock-key-website"], appId: "app" }],
      variants: {
        v1Paging: this.#dice.pick(["totals", "links"]),
        v1CustomerOrder: this.#dice.pick(["created", "newest"]),
      },
    });
    this.#website = clientOf("mock-key-website", this.#mock.fetch);
  }

  /** The hours before a night. */
  async day(): Promise<void> {
    for (let count = this.#dice.int(1, 12); count > 0; count -= 1) {
      pass(this.#dice.int(1, 90) * minuteMs);
      this.#something(this.#known());
      await this.#arrived();
    }
  }

  /** Starts the job until it has ended. Killed, it is started again soon, or by the next night. */
  async night(): Promise<void> {
    for (;;) {
      const startedAt = Date.now();
      const life = new Life(this.#folder, this.#mock, this.#known(), {
        stepsToLive: this.#dice.chance(0.4) ? this.#dice.int(0, 40) : Infinity,
        beside: (known) => (this.#dice.chance(0.2) ? this.#something(known) : pass(5)),
      });
      // A function is the key of one process alone.
      const audience = clientOf(async () => "mock-key-job", life.fetch(this.#pageSize));
      try {
        await night(audience, life.table(this.#table), this.#folder);
      } catch (error) {
        if (life.killed === undefined) throw error;
      }
      await this.#arrived();
      this.#count(life.killed === undefined ? "nights" : `killed at ${life.killed}`);
      if (life.killed === undefined) return this.#judge(startedAt);
      rmSync(this.#folder, { recursive: true });
      this.#folder = life.remains;
      if (this.#dice.chance(0.5)) await this.day();
    }
  }

  #judge(startedAt: number): void {
    const { contacts } = this.#mock.organization("acme");
    const table = this.#table.consents();
    for (const email of emails) {
      const words = this.#words[email]!;
      const before = words.findLast(({ at }) => at < startedAt);
      const since = words.filter(({ at }) => at >= startedAt);
      if (!before?.refuses || since.some(({ refuses }) => !refuses)) continue;
      if (table[email] === "SUBSCRIBED") this.wrongs.push(`week ${this.#seed}: ${email} in the table`);
      const shown = contacts.find((contact) => contact.email === email)?.email_opt_in;
      // A word that has come meanwhile is sent by the next night.
      if (shown === "SUBSCRIBED" && since.length === 0)
        this.wrongs.push(`week ${this.#seed}: ${email} at the service`);
      this.#count("left, and stayed so");
    }
    for (const email of emails) if (table[email] === "SUBSCRIBED") this.#count("subscribed");
  }

  /** A person acts. Who would leave unseen by any look does not leave at the service. */
  #something(known: ReadonlySet<string>): void {
    pass(5);
    const email = this.#dice.pick(emails);
    const what = this.#dice.pick(["leaves at the service", "leaves", "subscribes", "subscribes", "moves"]);
    if (what === "leaves at the service") {
      if (!known.has(email) || this.#calls.has(email)) return;
      this.#says(email, true);
      this.#mock.unsubscribe(email, { channel: "email" });
    } else if (what === "moves") this.#table.setCity(email, this.#dice.word(5));
    else {
      this.#says(email, what === "leaves");
      this.#table.setConsent(email, what === "leaves" ? "UNSUBSCRIBED" : "SUBSCRIBED");
      // Else the call fails, and the job sends it.
      if (this.#dice.chance(0.6)) this.#call(email, what === "leaves" ? "UNSUBSCRIBED" : "SUBSCRIBED");
    }
    this.#count(what);
  }

  #says(email: string, refuses: boolean): void {
    this.#words[email]!.push({ at: Date.now(), refuses });
  }

  #call(email: string, email_opt_in: "SUBSCRIBED" | "UNSUBSCRIBED"): void {
    const call = this.#website.v1.customers.upsert({ email, email_opt_in }).finally(() => {
      if (this.#calls.get(email) === call) this.#calls.delete(email);
    });
    this.#calls.set(email, call);
  }

  async #arrived(): Promise<void> {
    await Promise.all(this.#calls.values());
  }

  #known(): Set<string> {
    return new Set(this.#mock.organization("acme").contacts.map(({ email }) => email!));
  }

  #count(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  }
}

interface LifeOptions {
  readonly stepsToLive: number;
  /** What happens beside each step. */
  readonly beside: (known: ReadonlySet<string>) => void;
}

/** A process of the job, which may be killed before and after each of its steps. */
class Life {
  /** At which step it was killed. */
  killed: string | undefined;
  readonly remains: string;
  readonly #folder: string;
  readonly #mock: MockService;
  readonly #beside: (known: ReadonlySet<string>) => void;
  /** Who can leave at the service: the contacts from before it, but for those between a look at them and their write. */
  readonly #known: Set<string>;
  #stepsToLive: number;

  constructor(folder: string, mock: MockService, known: Set<string>, given: LifeOptions) {
    this.#folder = folder;
    this.remains = `${folder}+`;
    this.#mock = mock;
    this.#known = known;
    this.#stepsToLive = given.stepsToLive;
    this.#beside = given.beside;
  }

  /** The requests of this process, to a service whose pages have so many contacts. */
  fetch(pageSize: number): Fetch {
    return async (url, init) => {
      const id = /customer\/([^/?]+)$/.exec(url)?.[1];
      const isWrite = init.method === "POST";
      return await this.#step(isWrite ? "a write" : id ? "a look" : "a page", async () => {
        if (!isWrite && id) this.#known.delete(this.#emailOf(id));
        const response = await this.#mock.fetch(url.replace("limit=100", `limit=${pageSize}`), init);
        // Safe: the job writes nothing else.
        if (isWrite) this.#known.add((JSON.parse(init.body!) as { email: string }).email);
        return response;
      });
    };
  }

  table(table: MemoryTable): Table {
    return {
      all: () => this.#step("reading the table", () => table.all()),
      get: (email) => this.#step("reading a row", () => table.get(email)),
      refuse: (email, at) => this.#step("a refusal", () => table.refuse(email, at)),
    };
  }

  async #step<Value>(what: string, act: () => Promise<Value>): Promise<Value> {
    this.#live(what);
    const value = await act();
    this.#live(what);
    return value;
  }

  /** Its disk is copied as it is then. What the process still does reaches nobody. */
  #live(what: string): void {
    if (this.killed !== undefined) throw new TypeError("killed");
    this.#beside(this.#known);
    this.#stepsToLive -= 1;
    if (this.#stepsToLive >= 0) return;
    this.killed = what;
    cpSync(this.#folder, this.remains, { recursive: true, filter: (path) => !path.endsWith(".lock") });
    throw new TypeError("killed");
  }

  #emailOf(id: string): string {
    return this.#mock.organization("acme").contacts.find((contact) => contact.id === id)?.email ?? "";
  }
}

function clientOf(apiKey: string | (() => Promise<string>), fetch: Fetch): AudienceClient {
  return new AudienceClient({
    baseUrl: "https://api.example",
    apiKey,
    fetch,
    rateLimiter: false,
    maxRetries: 0,
  });
}

function pass(durationMs: number): void {
  vi.setSystemTime(Date.now() + durationMs);
}
