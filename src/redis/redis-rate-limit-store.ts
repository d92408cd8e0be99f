// The entry "audience-sdk/redis".
import type { RateLimitStore } from "../rate-limiter/store.ts";
import { isRedisLike, redisScripts, type RedisLike } from "./redis-client.ts";
import { storeOf } from "./redis-store.ts";

export type { IoredisLike, NodeRedisLike, RedisLike } from "./redis-client.ts";

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
  /**
   * The part of each limit that one process uses alone, over 0 to 1; default 1/4, which is safe for 4 processes. Calls are
   * refused where it is less than one permit.
   */
  readonly localShare?: number | undefined;
  /**
   * How long the permits of a killed process are held before they count as responded to, in milliseconds; default 10,000.
   * A process whose event loop blocks for longer may lose permits that it still uses.
   */
  readonly leaseMs?: number | undefined;
}

/**
 * Shares one rate limit between all processes and machines behind one IP, as the service counts per IP ("Limits").
 *
 * Redis stores the count and measures the time. The count survives `kill -9`, restarts, and a Redis that lost its data:
 * at the first request of a process that used it before, no process gets a permit for five seconds, while each writes its
 * own permits back. A process that starts before that treats the empty Redis as new, and one that starts while Redis is
 * unavailable does not know the calls of others: these can exceed a limit. While Redis is unavailable, or takes longer
 * than a second to reply, `onUnavailable` applies. The Redis client stays yours: add an `error` listener, and close it
 * after the `AudienceClient`.
 *
 * ```ts
 * const store = redisRateLimitStore(new Redis(process.env.REDIS_URL));
 * const audience = new AudienceClient({ rateLimiter: new RateLimiter({ store }) });
 * ```
 *
 * @throws TypeError that names the invalid option.
 */
export function redisRateLimitStore(
  client: RedisLike,
  options: RedisRateLimitStoreOptions = {},
): RateLimitStore {
  if (!isRedisLike(client)) reject("the first argument", "a client of `ioredis` or of `redis`");
  if (typeof options !== "object" || options === null) reject("the options", "one object");
  const {
    key = "audience-sdk:rate-limit",
    onUnavailable = "local",
    localShare = 1 / 4,
    // Five heartbeats, each of which renews the leases; longer than the five seconds within which a request of a killed
    // process can still arrive.
    leaseMs = 10_000,
    ...others
  } = options;
  const [unknown] = Object.entries(others).find(([, value]) => value !== undefined) ?? [];
  if (unknown !== undefined) {
    reject(`\`${unknown}\``, "left out: there are key, onUnavailable, localShare, leaseMs");
  }
  // A key that begins with "}" would put the two names into different hash slots.
  if (typeof key !== "string" || key === "" || key.startsWith("}")) {
    reject("`key`", "a string that is not empty and does not begin with a brace");
  }
  if (onUnavailable !== "local" && onUnavailable !== "reject") {
    reject("`onUnavailable`", '"local" or "reject"');
  }
  if (!Number.isFinite(localShare) || localShare <= 0 || localShare > 1) {
    reject("`localShare`", "a number over 0, up to 1");
  }
  if (!Number.isFinite(leaseMs) || leaseMs < 1) reject("`leaseMs`", "a number of milliseconds from 1");
  return storeOf(redisScripts(client, key), { onUnavailable, localShare, leaseMs });
}

function reject(subject: string, rule: string): never {
  throw new TypeError(`redisRateLimitStore: ${subject} must be ${rule}.`);
}
