import { AudienceClient, RateLimiter } from "audience-sdk";
import { redisRateLimitStore, type RedisRateLimitStoreOptions } from "audience-sdk/redis";
import { describe, expect, it } from "vitest";
import { VirtualTime } from "../rate-limiter/virtual-time.ts";
import { MemoryRedis } from "./memory-redis.ts";

const service = { baseUrl: "https://api.example.com", apiKey: "abcdefgh" };
const minute = { limit: 40, intervalMs: 60_000 };

/** Limiters that share one Redis, and so many calls of each. */
function room(options: RedisRateLimitStoreOptions = {}, windows = [minute]) {
  const time = new VirtualTime();
  const redis = new MemoryRedis({ time });
  const store = redisRateLimitStore(redis, options);
  const left: number[] = [];
  const limiter = (more: object = {}) => new RateLimiter({ clock: time.now, store, windows, ...more });
  const call = (one: RateLimiter, calls: number, request: object = {}) => {
    for (let each = 0; each < calls; each += 1)
      void one.acquire(request).then(
        (permit) => {
          left.push(time.now());
          permit.release("responded");
        },
        () => undefined,
      );
  };
  const sentBetween = (from: number, until: number) => left.filter((at) => at > from && at < until).length;
  return { time, redis, limiter, call, left, sentBetween };
}

interface Share {
  readonly localShare?: number;
  readonly reserve?: number;
  readonly priority?: number;
}

describe('Without Redis, with "local", a process', () => {
  it.each([
    ["a quarter by default", {}, 0, 10],
    ["what is left of it beside its own permits from before", {}, 6, 4],
    ["nothing, if it has used more", {}, 20, 0],
    ["what `localShare` says", { localShare: 1 / 8 }, 0, 5],
    ["less its reserve, for priority 9", { reserve: 0.5, priority: 9 }, 0, 5],
  ])(
    "keeps to its share of each limit: %s",
    async (_, { localShare, reserve, priority }: Share, used, expected) => {
      const { time, redis, limiter, call, sentBetween } = room({ localShare });
      const one = limiter({ reserve });
      await time.run(() => {
        call(one, used);
        time.at(3_000, () => (redis.network = "refuses"));
        time.at(10_000, () => call(one, 40, { priority }));
      }, 50_000);
      expect(sentBetween(9_000, 50_000)).toBe(expected);
    },
  );

  it("that never had contact uses its share of the limit, beside the calls of its snapshot", async () => {
    const { time, redis, limiter, sentBetween, call } = room();
    const before = new RateLimiter({ clock: time.now, windows: [minute] });
    for (let each = 0; each < 4; each += 1) (await before.acquire()).release("responded");
    const one = limiter({ snapshot: before.snapshot() });
    await time.run(() => {
      redis.network = "refuses";
      call(one, 40);
    }, 50_000);
    expect(sentBetween(0, 50_000)).toBe(6);
  });

  it("shows its share in usage, estimates and errors", async () => {
    const { time, redis, limiter, call } = room();
    const one = limiter();
    const shown: unknown[] = [];
    await time.run(() => {
      redis.network = "refuses";
      call(one, 10);
      time.at(100, () => {
        const { freeInMs, used } = one.usage().windows[0]!;
        shown.push(used, freeInMs, one.estimateMs(1));
        void one.acquire({ maxWaitMs: 100 }).catch((error: unknown) => shown.push(error));
      });
    }, 1_000);
    const close = expect.closeTo(59_936, -2) as number; // a matcher in place of a number
    expect(shown).toEqual([10, close, close, expect.objectContaining({ window: minute, waitMs: close })]);
  });

  it("takes a permit that was not sent back at once", async () => {
    const { time, redis, limiter } = room({ localShare: 1 / 40 });
    const one = limiter();
    const left: number[] = [];
    await time.run(() => {
      redis.network = "refuses";
      for (const use of ["unsent", "responded"] as const)
        void one.acquire().then((permit) => {
          left.push(time.now());
          time.after(50, () => permit.release(use));
        });
    }, 900);
    expect(left).toEqual([1, 51]);
  });
});

describe("After an outage", () => {
  it.each(["still has its data", "is empty"])(
    "a Redis that %s gets all permits of each process",
    async (how) => {
      const { time, redis, limiter, call } = room();
      const [one, other] = [limiter(), limiter()];
      await time.run(() => {
        call(one, 3);
        call(other, 2);
        time.at(3_000, () => (redis.network = "refuses"));
        time.at(6_000, () => call(one, 4));
        time.at(9_000, () => {
          if (how === "is empty") redis.loseMemory();
          redis.network = "up";
        });
      }, 14_000);
      expect([one, other].map((each) => each.usage().windows[0]!.used)).toEqual([9, 9]);
    },
  );

  it("a process goes on alone until the others have written their permits, too: for a second", async () => {
    const { time, redis, limiter, call, sentBetween } = room({ localShare: 1 / 8 });
    const one = limiter();
    await time.run(() => {
      redis.network = "refuses";
      call(one, 40);
      time.at(10_000, () => (redis.network = "up"));
    }, 20_000);
    expect(sentBetween(0, 11_000)).toBe(5);
    expect(sentBetween(11_000, 13_000)).toBe(35);
  });
});

it("usage() knows the permits of other processes, in any order of the windows, and what it leaves to them", async () => {
  const windows = [
    { limit: 1_000, intervalMs: 3_600_000 },
    { limit: 100, intervalMs: 60_000 },
  ];
  const { time, limiter } = room({}, windows);
  const [one, other] = [limiter(), limiter()];
  expect(one.usage().windows).toMatchObject([{ used: 0 }, { used: 0 }]);
  const finish =
    (use: "responded" | "unsent") => (permit: { release: (use: "responded" | "unsent") => void }) =>
      permit.release(use);
  await time.run(() => {
    for (let call = 0; call < 30; call += 1) void other.acquire().then(finish("responded"));
    for (let row = 0; row < 5; row += 1) void other.acquire({ priority: 9 }).then(finish("responded"));
    time.at(61_000, () => {
      for (let call = 0; call < 20; call += 1) void other.acquire().then(finish("responded"));
    });
    time.at(62_000, () => void one.acquire().then(finish("unsent")));
  }, 62_500);
  // 50 and 20 of them are of priorities 0 to 8.
  expect(one.usage().windows).toMatchObject([
    { used: 20, reserve: 22 },
    { used: 55, reserve: 100 },
  ]);
});

it("each client logs one warning for each outage, with its next call that gets a permit or must wait", async () => {
  const { time, redis, limiter } = room({}, [{ limit: 8, intervalMs: 15_000 }]);
  const rateLimiter = limiter();
  const warnings: (readonly [at: number, client: string, line: string])[] = [];
  const client = (name: string) => {
    const warn = (line: string): void => {
      if (!line.includes(" waits ")) warnings.push([time.now(), name, line]);
    };
    const fetch = async () => Response.json({ data: { id: "1" } });
    const { v1 } = new AudienceClient({ ...service, rateLimiter, fetch, logger: { warn } });
    return (calls: number): void => {
      for (let call = 0; call < calls; call += 1) void v1.customers.get("1");
    };
  };
  const [one, two] = [client("one"), client("two")];
  client("idle");
  await time.run(() => {
    one(8);
    for (const [at, network] of [
      [400, "refuses"],
      [4_000, "up"],
      [9_000, "refuses"],
    ] as const)
      time.at(at, () => (redis.network = network));
    for (const at of [3_000, 3_500, 7_000, 12_000]) time.at(at, () => one(1));
    for (const at of [3_000, 3_500]) time.at(at, () => two(1));
  }, 14_000);
  const words =
    "audience-sdk: the rate limit store is unavailable: ECONNREFUSED; this process continues with its share";
  expect(warnings).toEqual([
    [3_000, "one", words],
    [3_000, "two", words],
    [12_000, "one", words],
  ]);
});

const unavailable = "the rate limit store is unavailable";

it.each([
  ["a minute, as was expected", 60_000, [[10_005, unavailable]]],
  [
    "longer than was expected",
    9_000,
    [
      [9_014, unavailable],
      [10_005, "waits 10001 ms for the rate limit"],
    ],
  ],
])(
  "a client whose calls wait for %s says within ten seconds that an outage has begun, and no more that they leave room for others",
  async (_, intervalMs, expected) => {
    const { time, redis, limiter } = room({}, [{ limit: 8, intervalMs }]);
    const lines = new Map<string, number>();
    const warn = (line: string): void => {
      if (time.now() > 3_000) lines.set(line.replace(/audience-sdk: (.*\) )?|: .*/g, ""), time.now());
    };
    const fetch = async () => Response.json({ data: { id: "1" } });
    const rateLimiter = limiter({ reserve: 0.5 });
    const { v1 } = new AudienceClient({ ...service, rateLimiter, fetch, logger: { warn } });
    await time.run(() => {
      for (let call = 0; call < 8; call += 1) void v1.customers.get("1", { priority: 9 });
      time.at(3_000, () => (redis.network = "refuses"));
    }, 24_000);
    expect(lines).toEqual(new Map(expected.map(([at, line]) => [line, at])));
  },
);
