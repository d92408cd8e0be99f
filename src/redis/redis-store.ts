import type { RateLimitStore } from "../rate-limiter/store.ts";
import { parseOptions, type RedisRateLimitStoreOptions } from "./options.ts";
import type { PermitScripts } from "./permit-scripts.ts";
import { isRedisLike, redisScripts, type RedisLike } from "./redis-client.ts";
import { RedisPermits, type StoreSettings } from "./redis-permits.ts";

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
  if (!isRedisLike(client)) {
    throw new TypeError(
      "redisRateLimitStore: the first argument must be a client of `ioredis` or of `redis`.",
    );
  }
  const { key, ...settings } = parseOptions(options);
  return storeOf(redisScripts(client, key), settings);
}

/** A store that uses these scripts. */
export function storeOf(scripts: PermitScripts, settings: StoreSettings): RateLimitStore {
  return { ...settings, open: (limiter) => new RedisPermits(scripts, settings, limiter) };
}
