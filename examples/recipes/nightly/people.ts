import type { V1OptIn } from "audience-sdk";
import type { Redis } from "ioredis";

export interface Person {
  readonly email: string;
  readonly city: string;
  readonly email_opt_in: V1OptIn;
  /** ISO 8601: since when the consent is so. */
  readonly consent_at: string;
}

/** What the job needs of the table of people. */
export interface Table {
  all(): Promise<Person[]>;
  get(email: string): Promise<Person | undefined>;
  /** Makes somebody unsubscribed who is in the table, unless her own word there is as new as this time or newer. */
  refuse(email: string, at: Date): Promise<void>;
}

// Each is one step, so that of two writers one comes first.
const change = (lines: string) => `
  local person = cjson.decode(redis.call("HGET", KEYS[1], ARGV[1])
    or '{"city":"","email_opt_in":"NON_SUBSCRIBED","consent_at":""}')
  person.email = ARGV[1]
  ${lines}
  redis.call("HSET", KEYS[1], ARGV[1], cjson.encode(person))`;
const writeCity = change("person.city = ARGV[2]");
const writeConsent = change("person.email_opt_in, person.consent_at = ARGV[2], ARGV[3]");
const writeRefusal = change(`
  if person.email_opt_in == "UNSUBSCRIBED" or redis.call("HEXISTS", KEYS[1], ARGV[1]) == 0 or person.consent_at >= ARGV[2] then return end
  person.email_opt_in, person.consent_at = "UNSUBSCRIBED", ARGV[2]`);

/** The table that website and job share: here in Redis, in your system in your database. */
export class People implements Table {
  readonly #redis: Redis;

  constructor(redis: Redis) {
    this.#redis = redis;
  }

  async get(email: string): Promise<Person | undefined> {
    const text = await this.#redis.hget("people", email);
    return text === null ? undefined : (JSON.parse(text) as Person);
  }

  async all(): Promise<Person[]> {
    const texts = await this.#redis.hvals("people");
    return texts.map((text) => JSON.parse(text) as Person);
  }

  async setCity(email: string, city: string): Promise<void> {
    await this.#redis.eval(writeCity, 1, "people", email, city);
  }

  /** What she has said on the website, now. */
  async setConsent(email: string, consent: V1OptIn): Promise<void> {
    await this.#redis.eval(writeConsent, 1, "people", email, consent, new Date().toISOString());
  }

  async refuse(email: string, at: Date): Promise<void> {
    await this.#redis.eval(writeRefusal, 1, "people", email, at.toISOString());
  }
}
