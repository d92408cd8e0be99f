import type { V1OptIn } from "audience-sdk";
import type { Redis } from "ioredis";

export interface Person {
  readonly email: string;
  readonly city: string;
  readonly email_opt_in: V1OptIn;
  /** Each change of the consent increases it. */
  readonly version: number;
  /** Not sent until somebody has looked at it. */
  readonly isHeld: boolean;
}

// One step each, so that of two writers one comes first.
const read = `
  local new = '{"city":"","email_opt_in":"NON_SUBSCRIBED","version":0,"isHeld":false}'
  local person = cjson.decode(redis.call("HGET", KEYS[1], ARGV[1]) or new)
  person.email = ARGV[1]
`;
const write = `return redis.call("HSET", KEYS[1], ARGV[1], cjson.encode(person))`;
const writeCity = `${read} person.city = ARGV[2] ${write}`;
const writeConsent = `${read}
  if ARGV[3] ~= "" and tonumber(ARGV[3]) ~= person.version then return 0 end
  person.version, person.isHeld = person.version + 1, ARGV[2] == "hold"
  if not person.isHeld then person.email_opt_in = ARGV[2] end
${write}`;

/** The table of people that website and job share: here in Redis, in your system in your database. */
export class People {
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

  /** Writes a consent, or holds the person; with `ifVersion` only if the person still has that version. */
  async setConsent(email: string, consent: V1OptIn | "hold", ifVersion?: number): Promise<void> {
    await this.#redis.eval(writeConsent, 1, "people", email, consent, ifVersion ?? "");
  }
}
