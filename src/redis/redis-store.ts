import type { RateLimitStore } from "../rate-limiter/store.ts";
import { parseOptions, type RedisRateLimitStoreOptions } from "./options.ts";
import type { PermitScripts } from "./permit-scripts.ts";
import { isRedisLike, redisScripts, type RedisLike } from "./redis-client.ts";
import { RedisPermits, type StoreSettings } from "./redis-permits.ts";

/**
 * Shares one rate limit between all processes and machines behind one IP, as the service counts per IP ("Limits").
 *
 * The count lives in Redis and follows the clock of Redis alone. It outlasts `kill -9`, restarts, and a Redis that comes
 * back empty: as soon as a process that knew it speaks, nobody is granted a permit for five seconds, while each process
 * writes its own permits back. A process that starts before that takes the empty Redis for a new one, and one that starts
 * while Redis is away knows of no other's calls: these can pass a limit. While Redis is away, or takes longer than a second
 * to reply, `onUnavailable` holds. The client stays yours: give it an `error` listener, and close it after the
 * `AudienceClient`.
 *
 * ```ts
 * const store = redisRateLimitStore(new Redis(process.env.REDIS_URL));
 * const audience = new AudienceClient({ rateLimiter: new RateLimiter({ store }) });
 * ```
 *
 * @throws TypeError naming the option that is wrong.
 */
export function redisRateLimitStore(
  client: RedisLike,
  options: RedisRateLimitStoreOptions = {},
): RateLimitStore {
  if (!isRedisLike(client)) {
    throw new TypeError(
      "redisRateLimitStore: the first argument must be a client of `ioredis` or of `redis`.",
    );
  }
  const { key, ...settings } = parseOptions(options);
  return storeOf(redisScripts(client, key), settings);
}

/** A store on these scripts. */
export function storeOf(scripts: PermitScripts, settings: StoreSettings): RateLimitStore {
  return { ...settings, open: (limiter) => new RedisPermits(scripts, settings, limiter) };
}
