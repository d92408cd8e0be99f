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

  it("treats an option that is undefined as absent", () => {
    const store = redisRateLimitStore(client, { localShare: undefined, leaseMs: 500 });

    expect(store).toMatchObject({ localShare: 1 / 4, leaseMs: 500 });
  });

  it("accepts the smallest and the largest allowed values", () => {
    const store = redisRateLimitStore(client, { localShare: 1, leaseMs: 1 });

    expect(store).toMatchObject({ localShare: 1, leaseMs: 1 });
  });

  it.each([
    [{ key: "" }, "`key` must be a string that is not empty and does not begin with a brace."],
    [{ key: "}x" }, "`key` must be a string that is not empty and does not begin with a brace."],
    [{ key: 1 }, "`key` must be a string that is not empty and does not begin with a brace."],
    [{ onUnavailable: "wait" }, '`onUnavailable` must be "local" or "reject".'],
    [{ localShare: 0 }, "`localShare` must be a number over 0, up to 1."],
    [{ localShare: 1.1 }, "`localShare` must be a number over 0, up to 1."],
    [{ localShare: Number.NaN }, "`localShare` must be a number over 0, up to 1."],
    [{ localShare: "1" }, "`localShare` must be a number over 0, up to 1."],
    [{ leaseMs: 0 }, "`leaseMs` must be a number of milliseconds from 1."],
    [{ leaseMs: Infinity }, "`leaseMs` must be a number of milliseconds from 1."],
    [{ leaseMS: 5 }, "`leaseMS` must be left out: there are key, onUnavailable, localShare, leaseMs."],
    [null, "the options must be one object."],
    ["key", "the options must be one object."],
  ])("refuses %j, and names the rule", (options, words) => {
    // On purpose what the types forbid.
    expect(() => redisRateLimitStore(client, options as never)).toThrow(
      new TypeError(`redisRateLimitStore: ${words}`),
    );
  });

  it.each([
    [undefined],
    [null],
    ["redis://localhost"],
    [{}],
    [{ eval: () => {} }],
    [{ evalsha: () => {} }],
    [{ eval: () => {}, evalsha: "evalsha" }],
  ])("refuses %j as a client", (value) => {
    expect(() => redisRateLimitStore(value as never)).toThrow("a client of `ioredis` or of `redis`");
  });
});
