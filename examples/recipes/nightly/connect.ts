import { AudienceClient, RateLimiter } from "audience-sdk";
import { redisRateLimitStore } from "audience-sdk/redis";
import { Redis } from "ioredis";
import { People } from "./people.ts";

/** What the website and the job have in common: one budget of the rate limit, and one table. */
export async function connect() {
  const redis = new Redis(process.env["REDIS_URL"] ?? "redis://127.0.0.1:6379");
  redis.on("error", (error) => console.error(`Redis: ${error.message}`));
  await redis.ping();
  const rateLimiter = new RateLimiter({ store: redisRateLimitStore(redis) });
  // At SIGTERM a request in flight ends, or passes this time: hosts kill after 10 seconds or more.
  const audience = new AudienceClient({ rateLimiter, timeoutMs: 7_000, logger: console });
  return {
    audience,
    people: new People(redis),
    async close(): Promise<void> {
      await audience.close(); // first what uses Redis
      await redis.quit();
    },
  };
}
