import { AudienceClient, RateLimiter } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { redisRateLimitStore, type RedisRateLimitStoreOptions } from "audience-sdk/redis";
import { afterEach, describe, expect, it, vi } from "vitest";
import { VirtualTime } from "../rate-limiter/virtual-time.ts";
import { MemoryRedis } from "./memory-redis.ts";

const windows = [
  { limit: 8, intervalMs: 1_000 },
  { limit: 1_000, intervalMs: 3_600_000 },
];

/** Limiters that share one Redis, ten milliseconds away. */
function room(options: RedisRateLimitStoreOptions = {}) {
  const time = new VirtualTime();
  const redis = new MemoryRedis({ time, delayMs: () => 10 });
  const store = redisRateLimitStore(redis, options);
  const limiter = (more: object = {}) => new RateLimiter({ clock: time.now, store, windows, ...more });
  const rate = () =>
    redis.run({
      windows: [],
      leaseMs: 1_000,
      permits: [],
      succeeded: 0,
      ids: [],
      isLast: false,
      reserve: 0,
      newData: "new",
    });
  return { time, redis, limiter, rate };
}

describe("A request", () => {
  it("holds the windows, widened for slewed clocks; a 429 lowers the limits of all but the longest", async () => {
    const { time, redis, limiter } = room({ leaseMs: 5_000 });
    await time.run(() => void limiter().acquire(), 100);
    expect(redis.requests[0]).toMatchObject({
      leaseMs: 5_000,
      windows: [
        { limit: 8, intervalMs: 1_000, countedMs: 1_005.5, isAdaptive: true },
        { limit: 1_000, intervalMs: 3_600_000, countedMs: 3_601_805, isAdaptive: false },
      ],
    });
  });

  it("holds what has changed since the last one, and all permits in flight", async () => {
    const { time, redis, limiter } = room();
    const one = limiter();
    await time.run(() => {
      void one.acquire().then((permit) => time.at(100, () => permit.release("responded")));
      void one.acquire().then((permit) => time.at(101, () => permit.release("unsent")));
      void one.acquire().then((permit) => time.at(200, () => permit.release("lost")));
    }, 1_500);
    const states = redis.requests.map(({ permits }) => permits.map(([, , state]) => state));
    expect(states).toEqual([
      [],
      ["in flight"],
      [0, "in flight", "in flight"],
      ["in flight", "unsent"],
      [-5_000],
    ]);
  });

  it("asks for a hundred permits at most", async () => {
    const { time, redis, limiter } = room();
    const one = limiter();
    await time.run(() => {
      for (let call = 0; call < 200; call += 1) void one.acquire();
    }, 100);
    expect(redis.requests.map(({ ids }) => ids.length)).toEqual([1, 100]);
  });

  it("is sent by an idle process every two seconds, and five times in a shorter lease; it keeps no process alive", async () => {
    const beats = async (options: RedisRateLimitStoreOptions) => {
      const { time, redis, limiter } = room(options);
      const one = limiter();
      await time.run(() => void one.acquire().then((permit) => permit.release("responded")), 20_000);
      return redis.requests.length;
    };
    expect(await beats({})).toBeLessThan(13);
    expect(await beats({})).toBeGreaterThan(9);
    expect(await beats({ leaseMs: 1_000 })).toBeGreaterThan(40);
  });

  it.each([
    ["that are objects", undefined],
    ["that are numbers", 1],
    ["that are nothing", null],
  ])("is timed by handles %s, of which none holds an idle process", async (_, handle) => {
    const holding = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
    const before = holding();
    const { setTimeout } = globalThis;
    const set = vi.spyOn(globalThis, "setTimeout");
    // As in other runtimes; the timer itself must fire.
    if (handle !== undefined)
      set.mockImplementation(
        ((run: () => void, ms: number) => (setTimeout(run, ms).unref(), handle)) as never,
      );
    const time = {
      now: () => performance.now(),
      after: (__: number, run: () => void) => Number(setImmediate(run)),
    };
    const one = new RateLimiter({ windows, store: redisRateLimitStore(new MemoryRedis({ time })) });
    (await one.acquire()).release("responded");
    await one.settled();
    expect(set).toHaveBeenCalled();
    expect(holding()).toBeLessThanOrEqual(before);
  });
});

describe("A 429", () => {
  /** One call, then refusals. */
  const refused = (one: RateLimiter, time: VirtualTime, refusals: readonly [at: number, forMs: number][]) => {
    void one.acquire().then((permit) => permit.release("responded"));
    for (const [at, forMs] of refusals) time.at(at, () => one.refused(forMs));
  };

  it("pauses all processes, and several in a row do so once, for the longest pause", async () => {
    const { time, limiter, rate } = room();
    const replies: unknown[] = [];
    await time.run(() => {
      refused(limiter(), time, [
        [21, 1_000],
        [45, 2_000],
        [50, 4_000],
      ]);
      time.at(500, () => replies.push(rate()));
    }, 2_000);
    expect(replies).toEqual([
      expect.objectContaining({ rateFactor: 0.5, pausedMs: expect.closeTo(3_560, -1) }),
    ]);
  });

  it("in an outage is reported afterwards, and meanwhile halves the share", async () => {
    const { time, redis, limiter, rate } = room();
    const one = limiter();
    const left: number[] = [];
    const replies: unknown[] = [];
    await time.run(() => {
      void one.acquire().then((permit) => permit.release("responded"));
      time.at(1_000, () => (redis.network = "refuses"));
      time.at(4_000, () => one.refused(500));
      time.at(10_000, () => {
        for (let call = 0; call < 4; call += 1) void one.acquire().then(() => left.push(time.now()));
      });
      time.at(10_900, () => (redis.network = "up"));
      time.at(13_000, () => replies.push(rate()));
    }, 14_000);
    // Half of a quarter of 8.
    expect(left.filter((at) => at < 10_900)).toHaveLength(1);
    expect(replies).toMatchObject([{ rateFactor: 0.5, pausedMs: 0 }]);
  });

  it("during a request is not undone by its reply", async () => {
    const { time, limiter } = room();
    const one = limiter();
    const shares: number[] = [];
    await time.run(() => {
      void one.acquire();
      time.at(5, () => one.refused(100));
      time.at(21, () => shares.push(one.snapshot().share));
    }, 1_000);
    expect(shares).toEqual([0.5]);
  });
});

describe("close()", () => {
  afterEach(() => void vi.useRealTimers());

  function world() {
    vi.useFakeTimers();
    const time = {
      now: () => performance.now(),
      after: (ms: number, run: () => void) => Number(setTimeout(run, ms)),
    };
    const redis = new MemoryRedis({ time, delayMs: () => 10 });
    const rateLimiter = new RateLimiter({ store: redisRateLimitStore(redis) });
    const audience = new AudienceClient({ ...createMockService().clientOptions, rateLimiter });
    return { redis, audience };
  }

  it("resolves once Redis knows that the last call has ended", async () => {
    const { redis, audience } = world();
    const call = audience.v1.contactGroups.get("mock-list");
    await vi.advanceTimersByTimeAsync(21);
    await call;
    const closed = audience.close().then(() => redis.inFlight);
    await vi.advanceTimersByTimeAsync(100);
    expect(await closed).toBe(0);
  });

  it("returns the permits that Redis grants to calls that it has rejected", async () => {
    const { redis, audience } = world();
    const rejected = audience.v1.contactGroups.get("mock-list").catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(15);
    expect(redis.inFlight).toBe(1);
    const closed = audience.close().then(() => redis.inFlight);
    await vi.advanceTimersByTimeAsync(100);
    expect(await rejected).toMatchObject({ code: "closed", outcome: "not-sent" });
    expect(await closed).toBe(0);
  });
});
