import { describe, expect, it } from "vitest";
import { redisRateLimitStore, type RedisLike } from "audience-sdk/redis";

const client: RedisLike = { evalsha: async () => "", eval: async () => "" };

describe("redisRateLimitStore", () => {
  it("has the documented defaults", () => {
    expect(redisRateLimitStore(client)).toMatchObject({
      onUnavailable: "local",
      localShare: 1 / 4,
      leaseMs: 10_000,
    });
  });

  it("takes an option that is undefined for left out", () => {
    const store = redisRateLimitStore(client, { localShare: undefined, leaseMs: 500 });

    expect(store).toMatchObject({ localShare: 1 / 4, leaseMs: 500 });
  });

  it.each([
    [{ key: "" }, "`key`"],
    [{ key: "}x" }, "`key`"],
    [{ key: 1 }, "`key`"],
    [{ onUnavailable: "wait" }, "`onUnavailable`"],
    [{ localShare: 0 }, "`localShare`"],
    [{ localShare: 1.1 }, "`localShare`"],
    [{ localShare: Number.NaN }, "`localShare`"],
    [{ leaseMs: 0 }, "`leaseMs`"],
    [{ leaseMs: Infinity }, "`leaseMs`"],
    [{ leaseMS: 5 }, "`leaseMS`"],
    [null, "the options"],
  ])("refuses %j, naming what is wrong", (options, named) => {
    // On purpose what the types forbid.
    expect(() => redisRateLimitStore(client, options as never)).toThrow(named);
  });

  it("refuses options that throw when they are read", () => {
    const options = {
      get key(): string {
        throw new Error("unreadable");
      },
    };
    expect(() => redisRateLimitStore(client, options)).toThrow(
      /^redisRateLimitStore: the options must be readable/,
    );
  });

  it.each([[undefined], [null], ["redis://localhost"], [{}], [{ eval: () => {} }], [{ evalsha: () => {} }]])(
    "refuses %j as a client",
    (value) => {
      expect(() => redisRateLimitStore(value as never)).toThrow("a client of `ioredis` or of `redis`");
    },
  );
});
