import { RateLimiter, V1Client } from "audience-sdk";
import { redisRateLimitStore } from "audience-sdk/redis";
import { expect, it } from "vitest";

it.each(["Connection is closed.", "Connection is closed", "Connection is closed... "])(
  "the message of the Redis client ends with one full stop in the error: %s",
  async (words) => {
    const evalsha = () => Promise.reject(new Error(words));
    // The part of ioredis that the Redis store needs.
    const redis = { evalsha, eval: evalsha, defineCommand() {} };
    const rateLimiter = new RateLimiter({ store: redisRateLimitStore(redis, { onUnavailable: "reject" }) });
    const client = new V1Client({
      baseUrl: "http://127.0.0.1:9",
      apiKey: "some-key-0000",
      rateLimiter,
      fetch: () => Promise.reject(new Error("Nothing is to be sent.")),
    });

    const error: unknown = await client.customers.get("some-id").catch((reason: unknown) => reason);

    expect(error).toMatchObject({ code: "rate_limit_wait" });
    expect(String(error)).toMatch(/Connection is closed\.(?!\.)/);
  },
);
