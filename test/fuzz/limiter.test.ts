import { RateLimiter, type RateLimiterOptions, type RateLimitStore } from "audience-sdk";
import { redisRateLimitStore } from "audience-sdk/redis";
import { expect, it } from "vitest";
import { tryEntryPoint } from "./try-entry-point.ts";

const snapshot = {
  version: 1,
  takenAt: 1_000,
  answeredAt: [900, 950],
  ids: ["a", "b"],
  pausedUntil: 1_100,
  share: 1,
};
const validOptions = {
  windows: [
    { limit: 1_000, intervalMs: 1_000 },
    { limit: 10_000, intervalMs: 60_000 },
  ],
  maxWaitMs: 0,
  maxQueued: 5,
  snapshot,
  clock: () => 5,
};

const redis = { eval: async () => [], evalsha: async () => [] };

it("For any options, a RateLimiter works or its constructor throws an SDK error", async () => {
  const act = async (options: unknown, calls: unknown) => {
    const limiter = new RateLimiter(options as RateLimiterOptions);
    const { windows, queued } = limiter.usage();
    for (const { used, freeInMs } of windows) expect(used >= 0 && freeInMs >= 0).toBe(true);
    expect(queued).toBe(0);
    expect(new RateLimiter({ snapshot: limiter.snapshot() }).usage().queued).toBe(0);
    expect(limiter.estimateMs(calls as number)).toBeGreaterThanOrEqual(0);
  };
  await tryEntryPoint({ act, argumentCount: 2, valid: [[validOptions, {}], [5]] }, 200);
});

it("Any snapshot carries its count over or is refused", async () => {
  const act = (given: unknown) => {
    const limiter = new RateLimiter({ snapshot: given as NonNullable<RateLimiterOptions["snapshot"]> });
    for (const { used } of limiter.usage().windows) expect(used).toBeLessThanOrEqual(2);
    expect(limiter.estimateMs(1)).toBeLessThanOrEqual(2 * 3_600_000 + 10_000);
  };
  await tryEntryPoint({ act, valid: [[snapshot]] }, 200);
});

it("For any value as a store, a limiter works or throws an SDK error", async () => {
  const { evalsha } = redis;
  const store = redisRateLimitStore({ eval: evalsha, evalsha });
  const act = (given: unknown) => {
    const limiter = new RateLimiter({ store: given as RateLimitStore, maxWaitMs: 0 });
    expect(limiter.usage().queued).toBe(0);
  };
  await tryEntryPoint({ act, valid: [[store, { open: () => 5 }]] }, 200);
});

it("For any arguments, redisRateLimitStore returns a store or throws an SDK error", async () => {
  const options = { key: "k", onUnavailable: "reject", localShare: 0.5, leaseMs: 10_000 };
  const act = (client: unknown, given: unknown) =>
    redisRateLimitStore(client as typeof redis, given as { key: string }).leaseMs;
  await tryEntryPoint({ act, argumentCount: 2, valid: [[redis], [options]] }, 200);
  await tryEntryPoint({ act: (given) => act(redis, given), valid: [[options]] }, 200);
});
