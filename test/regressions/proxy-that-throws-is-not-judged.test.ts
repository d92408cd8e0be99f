import { AudienceClient, ConfigurationError, isAudienceError, RateLimiter } from "audience-sdk";
import { redisRateLimitStore, type RedisLike } from "audience-sdk/redis";
import { flattenProperties, v2ListQuerySchema } from "audience-sdk/schemas";
import { describe, expect, it } from "vitest";
import { thrownBy } from "../transport/failure.ts";

const hostile = () => {
  throw new Error("thrown by the input");
};
const traps = { get: hostile, has: hostile, ownKeys: hostile, getOwnPropertyDescriptor: hostile };
const { proxy: revoked, revoke } = Proxy.revocable({}, {});
revoke();

describe.each([
  ["that throws", new Proxy({}, traps)],
  ["that was revoked", revoked],
  ["whose keys cannot be described", new Proxy({ a: 1 }, { getOwnPropertyDescriptor: hostile })],
])("A proxy %s", (_, proxy) => {
  it("is no error of ours", () => {
    expect(isAudienceError(proxy)).toBe(false);
  });

  it.each([
    ["a client", () => new AudienceClient(proxy)],
    ["a client's option", () => new AudienceClient({ rateLimiter: proxy })],
    ["a limiter", () => new RateLimiter(proxy)],
    ["flattenProperties", () => flattenProperties({}, proxy)],
  ])("in the place of the options of %s is a ConfigurationError", (__, make) => {
    expect(thrownBy(make)).toBeInstanceOf(ConfigurationError);
  });

  it("in the place of a client of Redis is a TypeError", () => {
    expect(() => redisRateLimitStore(proxy as RedisLike)).toThrow(TypeError);
  });

  it("given to a schema is an issue, and nothing escapes safeParse", () => {
    expect(v2ListQuerySchema.safeParse(proxy).success).toBe(false);
  });
});
