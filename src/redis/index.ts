// The entry "audience-sdk/redis", listed by hand.
export { redisRateLimitStore, type RedisRateLimitStoreOptions } from "./redis-store.ts";
export type { IoredisLike, NodeRedisLike, RedisLike } from "./redis-client.ts";
