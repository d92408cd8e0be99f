import { AudienceClient, RateLimiter, type Logger } from "audience-sdk";
import { redisRateLimitStore, type RedisRateLimitStoreOptions } from "audience-sdk/redis";
import { expect, it } from "vitest";
import { VirtualTime } from "../rate-limiter/virtual-time.ts";
import { MemoryRedis } from "./memory-redis.ts";

/** Clients on one limiter with 8 calls in 15 seconds, and a log of their requests and warnings. */
function start(options: RedisRateLimitStoreOptions = {}) {
  const time = new VirtualTime();
  const redis = new MemoryRedis({ time });
  const store = redisRateLimitStore(redis, options);
  const windows = [{ limit: 8, intervalMs: 15_000 }];
  const rateLimiter = new RateLimiter({ clock: time.now, store, windows });
  const log: { at: number; what: string }[] = [];
  const ended: Promise<unknown>[] = [];
  const client = (name: string, hasLogger = true) => {
    const silent = { debug() {}, info() {}, error() {} };
    const warn = (line: string): void => {
      if (!line.includes(" waits ")) log.push({ at: time.now(), what: `${name} is warned: ${line}` });
    };
    const logger: Logger | undefined = hasLogger ? { ...silent, warn } : undefined;
    const fetch = async () => {
      log.push({ at: time.now(), what: `${name} sends` });
      return Response.json({ data: { id: "1" } });
    };
    const opened = new AudienceClient({
      baseUrl: "https://api.example.com",
      apiKey: "abcdefgh",
      rateLimiter,
      fetch,
      ...(logger && { logger }),
    });
    return (calls: number, signal?: AbortSignal): void => {
      for (let call = 0; call < calls; call += 1) {
        ended.push(opened.v1.customers.get("1", { signal }).catch((error: unknown) => error));
      }
    };
  };
  const warnings = () => log.filter(({ what }) => what.includes("warned"));
  return { time, redis, rateLimiter, client, log, warnings, ended };
}

const words =
  "audience-sdk: the rate limit store is unavailable: ECONNREFUSED; this process continues with its share";

it("each client with waiting calls logs a warning once, as soon as Redis is found unavailable, even if no call can be sent", async () => {
  const { time, redis, client, log, warnings } = start();
  const [one, two, idle] = [client("one"), client("two"), client("idle")];
  await time.run(() => {
    one(10);
    two(5);
    time.at(400, () => log.push({ at: 400, what: "Redis fails" }));
    time.at(400, () => (redis.network = "refuses"));
    // Later calls and failures log no second warning.
    time.at(6_000, () => one(3));
    time.at(6_000, () => void idle);
  }, 14_000);
  expect(log.slice(0, 9).map(({ what }) => what.replace(/^\w+ sends/, "sent"))).toEqual([
    ...Array<string>(8).fill("sent"),
    "Redis fails",
  ]);
  expect(log.slice(9).map(({ what }) => what)).toEqual([
    `one is warned: ${words}`,
    `two is warned: ${words}`,
  ]);
  expect(warnings()[0]!.at).toBeLessThan(400 + 2_000 + 10);
  expect(warnings()[1]!.at).toBe(warnings()[0]!.at);
});

it("a client whose first call comes later logs the warning with that call; a client without waiting calls does not", async () => {
  const { time, redis, client, warnings } = start();
  const [one, gone, late] = [client("one"), client("gone"), client("late")];
  const controller = new AbortController();
  await time.run(() => {
    one(9);
    gone(1, controller.signal);
    time.at(300, () => controller.abort());
    time.at(400, () => (redis.network = "refuses"));
    time.at(5_000, () => late(2));
  }, 14_000);
  expect(warnings().map(({ what }) => what)).toEqual([`one is warned: ${words}`, `late is warned: ${words}`]);
  expect(warnings()[1]!.at).toBe(5_000);
});

it("a second outage is logged again", async () => {
  const { time, redis, client, warnings } = start();
  const one = client("one");
  await time.run(() => {
    one(30);
    for (const [at, network] of [
      [400, "refuses"],
      [4_000, "up"],
      [9_000, "refuses"],
    ] as const)
      time.at(at, () => (redis.network = network));
  }, 14_000);
  expect(warnings().map(({ what }) => what)).toEqual(Array(2).fill(`one is warned: ${words}`));
  expect(warnings()[1]!.at).toBeGreaterThan(9_000);
});

it("calls that fail during the outage have the reason in their errors, and no warning is logged", async () => {
  for (const options of [{ onUnavailable: "reject" }, { localShare: 1 / 20 }] as const) {
    const { time, redis, client, warnings, ended } = start(options);
    const one = client("one");
    await time.run(() => {
      one(9);
      time.at(400, () => (redis.network = "refuses"));
    }, 14_000);
    expect(warnings()).toEqual([]);
    expect((await Promise.all(ended)).at(-1)).toMatchObject({
      code: "rate_limit_wait",
      message: expect.stringContaining("The rate limit store is unavailable: ECONNREFUSED.") as string,
    });
  }
});

it("without a logger nothing is logged, and calls are sent", async () => {
  const { time, redis, rateLimiter, client, log } = start();
  await time.run(() => {
    client("one", false)(12);
    time.at(400, () => (redis.network = "refuses"));
  }, 60_000);
  expect(log.map(({ what }) => what)).toEqual(Array(12).fill("one sends"));
  expect(rateLimiter.usage().queued).toBe(0);
});
