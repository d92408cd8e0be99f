import { ConfigurationError } from "audience-sdk";
import { redisRateLimitStore, type RedisLike } from "audience-sdk/redis";
import { describe, expect, it } from "vitest";

const client: RedisLike = { evalsha: async () => "", eval: async () => "" };

describe("redisRateLimitStore", () => {
  it("has the documented defaults", () => {
    expect(redisRateLimitStore(client)).toMatchObject({
      onUnavailable: "local",
      localShare: 1 / 4,
      leaseMs: 10_000,
    });
  });

  it.each([
    [{ key: "}x" }, "key must be a string that is not empty and does not begin with a brace, not a string."],
    [{ onUnavailable: "wait" }, "onUnavailable must be one of local, reject."],
    [{ localShare: 0 }, "localShare must be a number over 0, up to 1, not 0."],
    [{ localShare: 1.1 }, "localShare must be a number over 0, up to 1, not 1.1."],
    [{ leaseMs: Infinity }, "leaseMs must be a number of milliseconds from 1, not Infinity."],
    ["key", "The options of redisRateLimitStore must be an object, not a string."],
  ])("refuses %j, and names the rule", (options, message) => {
    // On purpose what the types forbid.
    expect(() => redisRateLimitStore(client, options as never)).toThrow(new ConfigurationError(message));
  });
});
