// The entry "audience-sdk/redis", listed by hand.
export { redisRateLimitStore, type RedisRateLimitStoreOptions } from "./redis-options.ts";
export type { IoredisLike, NodeRedisLike, RedisLike } from "./redis-client.ts";
