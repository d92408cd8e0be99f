/** Options of `redisRateLimitStore`; all are optional. */
export interface RedisRateLimitStoreOptions {
  /**
   * The name of the budget: all processes behind one IP use the same name, whatever their API keys ("Limits"). Default
   * `"audience-sdk:rate-limit"`. Redis holds two keys, `{key}:permits` and `{key}:state`, in one hash slot.
   */
  readonly key?: string | undefined;
  /**
   * What happens while Redis is unavailable. `"local"` (default): each process continues with `localShare` of the limits.
   * `"reject"`: calls are rejected with a `RateLimitWaitError`, so that nothing is sent uncounted.
   */
  readonly onUnavailable?: "local" | "reject" | undefined;
  /** The part of each limit that one process uses alone, over 0 to 1; default 1/4, which is safe for 4 processes. */
  readonly localShare?: number | undefined;
  /**
   * How long the permits of a killed process are held before they count as responded to, in milliseconds; default 10,000.
   * A process whose event loop blocks for longer may lose permits that it still uses.
   */
  readonly leaseMs?: number | undefined;
}

/** The validated options, with defaults. */
export type RedisRateLimitStoreSettings = {
  readonly [Name in keyof RedisRateLimitStoreOptions]-?: NonNullable<RedisRateLimitStoreOptions[Name]>;
};

// Five heartbeats, each of which renews the leases; longer than the five seconds within which a request of a killed
// process can still arrive.
const defaultLeaseMs = 10_000;

const defaults: RedisRateLimitStoreSettings = {
  key: "audience-sdk:rate-limit",
  onUnavailable: "local",
  localShare: 1 / 4,
  leaseMs: defaultLeaseMs,
};

/** Validates the options; a `TypeError` names an invalid one. */
export function parseOptions(options: RedisRateLimitStoreOptions): RedisRateLimitStoreSettings {
  const settings = givenOptions(options);
  const { key, onUnavailable, localShare, leaseMs } = settings;
  // A key that begins with "}" would put the two names into different hash slots.
  if (typeof key !== "string" || key === "" || key.startsWith("}")) {
    reject("`key`", "a string that is not empty and does not begin with a brace");
  }
  if (onUnavailable !== "local" && onUnavailable !== "reject")
    reject("`onUnavailable`", '"local" or "reject"');
  if (!isNumber(localShare) || localShare <= 0 || localShare > 1)
    reject("`localShare`", "a number over 0, up to 1");
  if (!isNumber(leaseMs) || leaseMs < 1) reject("`leaseMs`", "a number of milliseconds from 1");
  return settings;
}

/** The given options over the defaults; each is read once. */
function givenOptions(options: RedisRateLimitStoreOptions): RedisRateLimitStoreSettings {
  if (typeof options !== "object" || options === null) reject("the options", "one object");
  const given = entriesOf(options).filter(([, value]) => value !== undefined);
  const unknown = given.map(([name]) => name).find((name) => !Object.hasOwn(defaults, name));
  if (unknown !== undefined)
    reject(`\`${unknown}\``, `left out: there are ${Object.keys(defaults).join(", ")}`);
  return { ...defaults, ...Object.fromEntries(given) };
}

function entriesOf(options: object): [string, unknown][] {
  try {
    return Object.entries(options);
  } catch {
    return reject("the options", "readable: a getter or a proxy throws");
  }
}

function isNumber(value: unknown): value is number {
  return Number.isFinite(value);
}

function reject(subject: string, rule: string): never {
  throw new TypeError(`redisRateLimitStore: ${subject} must be ${rule}.`);
}
