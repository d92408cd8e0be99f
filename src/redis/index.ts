// The entry "audience-sdk/redis", listed by hand.
export { redisRateLimitStore } from "./redis-store.ts";
export type { RedisRateLimitStoreOptions } from "./options.ts";
export type { IoredisLike, NodeRedisLike, RedisLike } from "./redis-client.ts";
