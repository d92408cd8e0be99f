// The entry "audience-sdk/redis".
import * as z from "zod";
import type { RateLimitStore } from "../rate-limiter/store.ts";
import { numberThat, optionThat, parseOption, parseOptions } from "../schema/parse-options.ts";
import { hasMethods } from "../values/predicates.ts";
import { type RedisLike, scriptOf } from "./redis-client.ts";
import { RedisPermits } from "./redis-permits.ts";

export type { IoredisLike, NodeRedisLike, RedisLike } from "./redis-client.ts";

/** Options of `redisRateLimitStore`; all are optional. */
export interface RedisRateLimitStoreOptions {
  /**
   * The name of the budget: all processes behind one IP use the same name, whatever their API keys ("Limits"). Default
   * `"audience-sdk:rate-limit"`. Redis holds three keys that begin with `{key}:`, in one hash slot.
   */
  readonly key?: string | undefined;
  /**
   * What happens while Redis is unavailable. `"local"` (default): each process continues with `localShare` of each limit.
   * `"reject"`: calls are rejected with a `RateLimitWaitError`.
   */
  readonly onUnavailable?: "local" | "reject" | undefined;
  /**
   * The part of each limit that one process uses meanwhile, over 0 to 1; default 1/4. Calls are refused where it is less than
   * one permit of a limit.
   */
  readonly localShare?: number | undefined;
  /**
   * How long the permits of a killed process are held before they count as responded to, in milliseconds; default 10,000.
   * A process whose event loop blocks for longer may lose permits that it still uses.
   */
  readonly leaseMs?: number | undefined;
}

// Five seconds in which a request of a killed process can still arrive, and as many between its last contact and its end.
const defaultLeaseMs = 10_000;

const storeOptions = z.strictObject({
  // A key that begins with "}" would put the names into different hash slots.
  key: optionThat<string>(
    "a string that is not empty and does not begin with a brace",
    (value) => typeof value === "string" && value !== "" && !value.startsWith("}"),
  ).default("audience-sdk:rate-limit"),
  onUnavailable: z.enum(["local", "reject"]).default("local"),
  localShare: numberThat("a number over 0, up to 1", (value) => value > 0 && value <= 1).default(1 / 4),
  leaseMs: numberThat("a number of milliseconds from 1", (value) => value >= 1 && value < Infinity).default(
    defaultLeaseMs,
  ),
}) satisfies z.ZodType<unknown, RedisRateLimitStoreOptions>;

const clientOption = optionThat<RedisLike>(
  "a client of `ioredis` or of `redis`",
  (value) => hasMethods(value, "eval") && (hasMethods(value, "evalSha") || hasMethods(value, "evalsha")),
);

/**
 * Shares one rate limit between all processes and machines behind one IP, as the service counts per IP ("Limits").
 *
 * Redis stores the count and measures the time. The count survives `kill -9` and restarts of the processes, and a Redis that
 * comes back with its data. While Redis is unavailable, or takes longer than a second to reply, `onUnavailable` applies; when
 * it is back, also empty, each process writes the permits that it knows, and goes on. Around such an outage a window may be
 * exceeded. The Redis client stays yours: add an `error` listener, and close it after the `AudienceClient`.
 *
 * ```ts
 * const store = redisRateLimitStore(new Redis(process.env.REDIS_URL));
 * const audience = new AudienceClient({ rateLimiter: new RateLimiter({ store }) });
 * ```
 *
 * @throws ConfigurationError naming the option of the store that is wrong.
 */
export function redisRateLimitStore(
  client: RedisLike,
  options: RedisRateLimitStoreOptions = {},
): RateLimitStore {
  parseOption(clientOption, client, "The first argument of redisRateLimitStore");
  const { key, ...settings } = parseOptions(storeOptions, options, "The options of redisRateLimitStore");
  const runScript = scriptOf(client, key);
  return { ...settings, open: (user) => new RedisPermits(runScript, settings, user) };
}
