import { AsyncLocalStorage } from "node:async_hooks";
import { AudienceClient, RateLimiter } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { redisRateLimitStore, type RedisRateLimitStoreOptions } from "audience-sdk/redis";
import { describe, expect, it, vi } from "vitest";
import { type PermitRequest, VirtualTime } from "../rate-limiter/virtual-time.ts";
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
  const nothing = { windows: [], permits: [], process: "", ids: [], succeeded: 0, isLast: false, reserve: 0 };
  const rate = () => redis.run({ ...nothing, leaseMs: 1_000, newData: "new" });
  return { time, redis, limiter, rate };
}

const real = {
  now: () => performance.now(),
  after: (_: number, run: () => void) => Number(setImmediate(run)),
};

describe("A request", () => {
  it("holds the windows, widened for slewed clocks; a 429 lowers the limits of all but the longest", async () => {
    const { time, redis, limiter } = room({ leaseMs: 5_000 });
    await time.run(() => void limiter().acquire(), 100);
    expect(redis.requests[0]).toMatchObject({
      leaseMs: 5_000,
      windows: [
        { limit: 8, intervalMs: 1_000, countedMs: 1_005.5 },
        { limit: 1_000, intervalMs: 3_600_000, countedMs: 3_601_805 },
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
    ["that are objects, of which one holds the process while a call waits", undefined, 1],
    ["that are numbers", 1, 0],
    ["that are nothing", null, 0],
  ])("is timed by handles %s, and none holds an idle process", async (_, handle, held) => {
    const holding = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
    const before = holding();
    const { setTimeout } = globalThis;
    const set = vi.spyOn(globalThis, "setTimeout");
    // As in other runtimes; the timer itself must fire.
    if (handle !== undefined)
      set.mockImplementation(
        ((run: () => void, ms: number) => (setTimeout(run, ms).unref(), handle)) as never,
      );
    const one = new RateLimiter({ windows, store: redisRateLimitStore(new MemoryRedis({ time: real })) });
    const acquired = one.acquire();
    expect(holding() - before).toBe(held);
    (await acquired).release("responded");
    await one.settled();
    expect(set).toHaveBeenCalled();
    expect(holding()).toBeLessThanOrEqual(before);
  });
});

describe("While a request is under way", () => {
  const ofTwo = { windows: [{ limit: 2, intervalMs: 60_000 }] };

  /** One limiter, and a log of its calls. */
  function logged(options: object = {}) {
    const { time, redis, limiter } = room();
    const one = limiter(options);
    const log: string[] = [];
    const call = (name: string, request: PermitRequest = {}): void =>
      void one.acquire(request).then(
        () => log.push(name),
        () => log.push(`${name} is refused`),
      );
    const calls = (count: number, name: string, request?: PermitRequest): void => {
      for (let index = 1; index <= count; index += 1) call(`${name} ${index}`, request);
    };
    return { time, redis, one, log, call, calls };
  }

  it("calls gather: the next asks for all of the class of the first, the others before those of priority 9", async () => {
    const { time, redis, log, call, calls } = logged();
    await time.run(() => {
      calls(2, "row", { priority: 9 });
      call("page view");
    }, 1_000);
    const asked = redis.requests.flatMap(({ ids, isLast }) => (ids.length > 0 ? [[ids.length, isLast]] : []));
    expect(asked).toEqual([
      [1, true],
      [1, false],
      [2, true],
    ]);
    // The permit for the first row was given back, as the page view goes first.
    expect(log).toEqual(["page view", "row 1", "row 2"]);
  });

  it("a call of another class may come: it is asked for, though there is no permit for those of priority 9", async () => {
    const { time, log, call, calls } = logged(ofTwo);
    await time.run(() => {
      calls(2, "row", { priority: 9 });
      // One permit is left for the others.
      time.at(30, () => call("page view", { maxWaitMs: 0 }));
    }, 1_000);
    expect(log).toEqual(["row 1", "page view"]);
  });

  it("something may change: then it is sent again at once, whatever its reply says", async () => {
    const { time, redis, one, calls } = logged({ windows: [{ limit: 1, intervalMs: 60_000 }] });
    await time.run(() => {
      calls(2, "call");
      time.at(25, () => one.pause(0));
    }, 1_000);
    expect(redis.requests.filter(({ ids }) => ids.length > 0)).toHaveLength(3);
  });

  it("no call is refused; then those are that cannot wait, and the latest beyond `maxQueued`", async () => {
    const { time, log, call, calls } = logged({ ...ofTwo, maxQueued: 1 });
    await time.run(() => {
      calls(4, "call");
      call("impatient", { maxWaitMs: 10 });
      call("late");
    }, 1_000);
    const refused = ["impatient", "late", "call 4"].map((name) => `${name} is refused`);
    expect(log).toEqual(["call 1", "call 2", ...refused]);
  });

  it("the `maxQueued` of each call counts for that call alone, also of one that came before", async () => {
    const { time, one, log, call } = logged({ windows: [{ limit: 1, intervalMs: 60_000 }] });
    await time.run(() => {
      call("first");
      call("in a long queue", { maxQueued: 9 });
      call("in none", { maxQueued: 0 });
      call("refused for its rate", { maxQueued: 0, isRequeued: true });
      time.at(100, () => call("late", { maxQueued: 1 }));
    }, 1_000);
    // The permit that was asked for the first call goes to the refused one, which is of its class.
    expect(log).toEqual(["refused for its rate", "in none is refused", "late is refused"]);
    expect(one.usage().queued).toBe(2);
  });
});

it.each([
  ["in memory", undefined],
  ["in Redis", redisRateLimitStore(new MemoryRedis({ time: real }))],
])("The log lines of a call that waits run in its own async context, with the count %s", async (_, store) => {
  const contexts = new AsyncLocalStorage<string>();
  const seen: string[] = [];
  const audience = new AudienceClient({
    ...createMockService().clientOptions,
    rateLimiter: new RateLimiter({ windows: [{ limit: 2, intervalMs: 200 }], store }),
    logLevel: "debug",
    logger: {
      debug: (line) => void (line.includes("for the rate limit") && seen.push(`${contexts.getStore()}`)),
    },
  });
  const names = Array.from({ length: 10 }, (__, index) => `call ${index}`);
  const calls = names.map((name) => contexts.run(name, () => audience.v1.contactGroups.get("mock-list")));
  await Promise.all(calls);
  expect(seen).toEqual(names.slice(2));
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
