import { DOCUMENTED_WINDOWS, RateLimiter, RateLimitWaitError } from "audience-sdk";
import { redisRateLimitStore, type RedisRateLimitStoreOptions } from "audience-sdk/redis";
import { describe, expect, it } from "vitest";
import { garbageCollector } from "../garbage-collector.ts";
import { randomFrom, refusedBySliding } from "../rate-limiter/simulation.ts";
import { type Permit, VirtualTime } from "../rate-limiter/virtual-time.ts";
import { MemoryRedis } from "./memory-redis.ts";

type RoomOptions = RedisRateLimitStoreOptions & { readonly delayMs?: () => number };

/** One Redis, any number of processes, and a server that logs all arrivals. */
function room({ delayMs = () => 1, ...options }: RoomOptions = {}) {
  const time = new VirtualTime();
  const redis = new MemoryRedis({ time, delayMs });
  const store = redisRateLimitStore(redis, options);
  const random = randomFrom(7);
  const arrivals: number[] = [];
  const ended: { status: "responded" | "failed"; at: number; error?: unknown }[] = [];
  const process = (more: object = {}) => new RateLimiter({ clock: time.now, store, ...more });
  const send = (permit: Permit): void => {
    const [out, back] = [5 + 295 * random(), 5 + 295 * random()];
    arrivals.push(time.now() + out);
    time.after(out + back, () => {
      permit.release("responded");
      ended.push({ status: "responded", at: time.now() });
    });
  };
  const call = (limiter: RateLimiter, request: object = {}): void => {
    void limiter.acquire(request).then(send, (error: unknown) => {
      ended.push({ status: "failed", at: time.now(), error });
    });
  };
  const callAt = (at: number, calls: number, limiter: RateLimiter): void => {
    time.at(at, () => {
      for (let index = 0; index < calls; index += 1) call(limiter);
    });
  };
  return { time, redis, arrivals, ended, process, call, callAt };
}

describe("a Redis store that several processes share", () => {
  it("keeps the documented limits over all processes, whatever their clocks and the delays of Redis and the service", async () => {
    const random = randomFrom(3);
    const { time, arrivals, ended, process, callAt } = room({ delayMs: () => 1 + 150 * random() });
    const hourMs = 3_600_000;
    const clockAhead = (ms: number) => process({ clock: () => time.now() + ms });
    const processes = [process(), clockAhead(hourMs), clockAhead(-hourMs)];
    await time.run(() => processes.forEach((limiter, index) => callAt(index * 100, 120, limiter)), 400_000);
    expect(ended.filter(({ status }) => status === "responded")).toHaveLength(360);
    expect(refusedBySliding(arrivals, DOCUMENTED_WINDOWS)).toBe(0);
    // 360 calls: three minutes and five rounds of a second, each with its round trip.
    expect(ended.at(-1)!.at).toBeLessThan((180_000 + 5_000 + 610) * 1.05);
  });

  it("gets permits back at once if their calls are aborted or unsent", async () => {
    const { time, redis, process } = room();
    const limiter = process();
    const controller = new AbortController();
    const reasons: unknown[] = [];
    await time.run(() => {
      for (let call = 0; call < 5; call += 1) {
        void limiter.acquire({ signal: controller.signal }).catch((reason: unknown) => reasons.push(reason));
      }
      void limiter.acquire().then((permit) => permit.release("unsent"));
      controller.abort("left");
    }, 100);
    expect(reasons).toEqual(Array(5).fill("left"));
    expect(redis.inFlight).toBe(0);
  });

  it("keeps the permit of a call that takes longer than the lease", async () => {
    const { time, redis, process } = room({ leaseMs: 10_000 });
    const limiter = process();
    await time.run(() => void limiter.acquire(), 60_000);
    expect(redis.inFlight).toBe(1);
    expect(limiter.usage().inFlight).toBe(1);
  });

  it("is asked again as soon as a release shows returned permits, before the end of the wait", async () => {
    const { time, process } = room();
    const windows = [{ limit: 2, intervalMs: 60_000 }];
    const [one, other] = [process({ windows }), process({ windows })];
    const left: number[] = [];
    await time.run(() => {
      for (let call = 0; call < 2; call += 1) {
        void one.acquire().then((permit) => time.at(5_000, () => permit.release("unsent")));
      }
      time.at(100, () => void other.acquire().then(() => left.push(time.now())));
    }, 100_000);
    expect(left).toHaveLength(1);
    expect(left[0]).toBeLessThan(5_000 + 2_000 + 10);
  });
});

it("permits that are granted after a 429 are returned, and not kept during the pause", async () => {
  const { time, redis, process } = room();
  const limiter = process();
  await time.run(() => {
    for (let call = 0; call < 3; call += 1) void limiter.acquire();
    // Redis has granted them, and its reply is on the way.
    time.at(1.5, () => limiter.refused(60_000));
  }, 100);
  expect(redis.inFlight).toBe(0);
  expect(limiter.usage()).toMatchObject({ queued: 3, inFlight: 0 });
});

it.each([
  ["that still has them", false],
  ["that has lost its data", true],
])("a snapshot adds its permits to a Redis %s, each of them once", async (_, isEmpty) => {
  const { time, redis, process, callAt } = room();
  const limiter = process();
  let restarted: RateLimiter | undefined;
  await time.run(() => {
    callAt(0, 5, limiter);
    time.at(2_000, () => {
      if (isEmpty) redis.loseMemory();
      restarted = process({ snapshot: JSON.parse(JSON.stringify(limiter.snapshot())) as unknown });
      callAt(2_100, 1, restarted);
    });
  }, 10_000);
  expect(restarted?.usage().windows.map(({ used }) => used)).toEqual([0, 6, 6]);
});

describe.each(["refuses", "hangs", "loses replies"] as const)("a Redis that %s", (network) => {
  it('lets each of four processes use its share with "local", and gets their permits afterwards', async () => {
    const { time, redis, arrivals, ended, process, callAt } = room();
    const processes = [process(), process(), process(), process()];
    await time.run(() => {
      // More than a minute's limit for each, so that every process still has calls when Redis is unavailable.
      for (const limiter of processes) callAt(0, 130, limiter);
      time.at(30_000, () => (redis.network = network));
      time.at(200_000, () => (redis.network = "up"));
    }, 900_000);
    expect(ended.filter(({ status }) => status === "responded")).toHaveLength(520);
    // Around the outage, and only there: none knows the permits of the others.
    expect(refusedBySliding(arrivals, DOCUMENTED_WINDOWS)).toBeLessThanOrEqual(100);
    for (const [from, until] of [
      [0, 30_000],
      [300_000, 900_000],
    ] as const) {
      const apart = arrivals.filter((at) => at >= from && at < until);
      expect(refusedBySliding(apart, DOCUMENTED_WINDOWS)).toBe(0);
    }
    // Four quarters of the minute's limit, a few less if a minute ends between two calls.
    const alone = arrivals.filter((at) => at > 90_000 && at < 150_000);
    expect(alone.length).toBeGreaterThan(80);
    expect(alone.length).toBeLessThanOrEqual(100);
  });

  it('makes waiting calls fail with "reject", and grants permits again afterwards', async () => {
    const { time, redis, arrivals, ended, process, call } = room({ onUnavailable: "reject" });
    const limiter = process();
    await time.run(() => {
      redis.network = network;
      time.at(0, () => call(limiter));
      time.at(3_000, () => call(limiter));
      time.at(4_000, () => (redis.network = "up"));
      time.at(8_000, () => call(limiter));
      time.at(20_000, () => call(limiter));
    }, 30_000);
    expect(ended.map(({ status }) => status)).toEqual(["failed", "failed", "responded", "responded"]);
    expect(ended[0]!.error).toBeInstanceOf(RateLimitWaitError);
    expect(arrivals).toHaveLength(2);
  });
});

describe("a reply of Redis", () => {
  const sense = {
    data: "1",
    granted: 1,
    waitMs: 0,
    used: [1],
    younger: [[1_000, 1, 1]],
    pausedMs: 0,
    rateFactor: 1 / 64,
  };

  it.each([
    ["that is one of its script grants a permit", JSON.stringify(sense), { status: "responded" }],
    ...["null", "OK"].map((reply) => [
      `that is none of its script makes it count as unavailable: ${reply}`,
      reply,
      {
        status: "failed",
        error: { message: expect.stringContaining("The rate limit store is unavailable:") },
      },
    ]),
  ] as [string, string, object][])("%s", async (_, reply, end) => {
    const { time, process, ended, call } = room();
    const replying = async () => reply;
    const store = redisRateLimitStore({ evalsha: replying, eval: replying }, { onUnavailable: "reject" });
    const windows = [{ limit: 10, intervalMs: 1_000 }];
    await time.run(() => call(process({ store, windows })), 1_500);
    expect(ended).toMatchObject([end]);
  });

  it("that is late returns its permits", async () => {
    let delayMs = 700;
    const { time, redis, process } = room({ delayMs: () => delayMs });
    const limiter = process();
    const held: number[] = [];
    await time.run(() => {
      void limiter.acquire().then((permit) => permit.release("unsent"));
      time.at(750, () => held.push(redis.inFlight));
      time.at(1_100, () => (delayMs = 1));
    }, 6_000);
    expect(held).toEqual([1]);
    expect(redis.inFlight).toBe(0);
  });

  it("to a request that Redis gets after its return returns its permits, too", async () => {
    let delayMs = 3_000;
    const { time, redis, process, call } = room({ delayMs: () => delayMs, onUnavailable: "reject" });
    const held: number[] = [];
    await time.run(() => {
      call(process());
      time.at(10, () => (delayMs = 1));
      time.at(3_001, () => held.push(redis.inFlight));
    }, 9_000);
    expect(held).toEqual([1]);
    expect(redis.inFlight).toBe(0);
  });

  it("that took longer than half a lease brings no permit: the process was suspended", async () => {
    const { time, redis, process } = room({ delayMs: () => 200, leaseMs: 600 });
    const left: number[] = [];
    await time.run(
      () =>
        void process()
          .acquire()
          .then(() => left.push(time.now())),
      3_000,
    );
    expect(left).toEqual([]);
    expect(redis.requests.length).toBeLessThan(12);
  });
});

it("the rate grows back with the successes of all processes, also of those in an outage", async () => {
  const { time, redis, process } = room();
  const [one, other] = [process(), process()];
  const rateFactors: number[] = [];
  await time.run(() => {
    void one.acquire().then((permit) => {
      permit.release("responded");
      one.refused(1_000);
    });
    const acquire = () => void other.acquire().then((permit) => permit.release("responded"));
    time.at(1_500, acquire);
    time.at(2_000, () => {
      for (let success = 0; success < 60; success += 1) one.succeeded();
    });
    time.at(2_900, () => (redis.network = "refuses"));
    time.at(5_000, () => (redis.network = "up"));
    time.at(3_000, () => {
      for (let success = 0; success < 20; success += 1) other.succeeded();
      acquire();
    });
    time.at(9_000, () => rateFactors.push(one.snapshot().share, other.snapshot().share));
  }, 10_000);
  const after80 = expect.closeTo(0.9, 9) as number; // a matcher in place of a number
  expect(rateFactors).toEqual([after80, after80]);
});

it("a limiter that is garbage-collected sends no more requests", async () => {
  const collect = garbageCollector();
  const { time, redis, process } = room();
  // Longer than any timer of the call itself, and between two heartbeats.
  await time.run(() => {
    void process()
      .acquire()
      .then((permit) => permit.release("responded"));
  }, 71_500);
  const whileReferenced = redis.requests.length;
  // A WeakRef keeps its target until the end of the current turn, and running code may keep it longer.
  for (let turn = 0; turn < 5; turn += 1) {
    await new Promise(setImmediate);
    collect();
  }
  await time.run(() => {}, 140_000);
  expect(whileReferenced).toBeGreaterThan(30);
  expect(redis.requests.length - whileReferenced).toBe(0);
  expect(time.pendingTimers).toBe(0);
});
