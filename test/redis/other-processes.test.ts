import { DOCUMENTED_WINDOWS, RateLimiter, type RateLimitWaitError } from "audience-sdk";
import { redisRateLimitStore } from "audience-sdk/redis";
import { expect, it } from "vitest";
import { randomFrom } from "../rate-limiter/simulation.ts";
import { type PermitRequest, VirtualTime } from "../rate-limiter/virtual-time.ts";
import { MemoryRedis } from "./memory-redis.ts";

/** Limiters that share one Redis; calls are responded to at once. */
function room(windows = DOCUMENTED_WINDOWS, delayMs?: () => number) {
  const time = new VirtualTime();
  const random = randomFrom(7);
  const redis = new MemoryRedis({ time, delayMs: delayMs ?? (() => 1 + 20 * random()) });
  const store = redisRateLimitStore(redis);
  const process = (reserve = 0.1) => new RateLimiter({ clock: time.now, store, windows, reserve });
  const call = async (limiter: RateLimiter, request?: PermitRequest): Promise<string> => {
    try {
      (await limiter.acquire(request)).release("responded");
      return "sent";
    } catch {
      return "refused";
    }
  };
  /** Calls from `fromS` on, so many a second and so many in all. */
  const callsAt = (fromS: number, perSecond: number, calls: number, limiter: RateLimiter, request = {}) => {
    for (let each = 0; each < calls; each += 1)
      time.at(1_000 * (fromS + each / perSecond), () => void call(limiter, request));
  };
  const used = (limiter: RateLimiter): number[] => limiter.usage().windows.map((window) => window.used);
  return { time, process, call, callsAt, used };
}

it("A first call waits beside another process for a permit that was used long ago, and is refused only if it may not wait for it", async () => {
  const { time, process, call, callsAt } = room([{ limit: 60, intervalMs: 60_000 }]);
  const ends: Promise<string>[] = [];
  await time.run(() => {
    callsAt(0, 1, 60, process());
    time.at(59_500, () => {
      for (const maxWaitMs of [3_000, 100]) ends.push(call(process(), { maxWaitMs }));
    });
  }, 70_000);
  expect(await Promise.all(ends)).toEqual(["sent", "refused"]);
});

it.each([5, 9])(
  "A call of priority %i that may not wait until the time that Redis has named is refused at once and told that time, though permits of other processes may seem to come back before",
  async (priority) => {
    const { time, process, callsAt } = room([{ limit: 60, intervalMs: 60_000 }]);
    const one = process();
    const ends: Promise<string>[] = [];
    await time.run(() => {
      // All are of one sixth of the minute: its end.
      callsAt(0, 30, 60, process());
      for (const atMs of [51_900, 52_500, 57_500])
        time.at(atMs, () => {
          const after = () => `after ${Math.ceil((time.now() - atMs) / 1_000)} s`;
          const refused = ({ waitMs }: RateLimitWaitError) => `waits ${Math.ceil(waitMs / 1_000)} s: refused`;
          const asked = one.acquire({ priority, maxWaitMs: 3_000 }).then(() => "sent", refused);
          ends.push(asked.then((end) => `${end} ${after()}`));
        });
    }, 70_000);
    expect(await Promise.all(ends)).toEqual([
      "waits 9 s: refused after 1 s",
      "waits 8 s: refused after 0 s",
      "sent after 3 s",
    ]);
  },
);

it("usage() knows right after a reply which permits of other processes are in which window", async () => {
  const { time, process, call, callsAt, used } = room();
  const [one, other] = [process(), process()];
  const seen: number[][] = [];
  await time.run(() => {
    callsAt(0, 8, 24, other);
    callsAt(30, 8, 20, other, { priority: 9 });
    for (const atS of [3.45, 31.45, 65])
      time.at(1_000 * atS, () => void call(one).then(() => seen.push(used(one))));
  }, 70_000);
  expect(seen).toEqual([
    [5, 25, 25],
    [9, 38, 38],
    [1, 22, 47],
  ]);
});

it("usage() takes no permit of the process itself for one of another, however long Redis takes to reply", async () => {
  const { time, process, call, used } = room(DOCUMENTED_WINDOWS, () => 150);
  const one = process();
  let sent = 0;
  await time.run(() => {
    for (let atMs = 0; atMs < 8_000; atMs += 125) {
      time.at(atMs, () => void call(one).then(() => (sent += 1)));
      time.at(atMs + 50, () => {
        const [second, ...longer] = used(one);
        expect(second).toBeLessThanOrEqual(10);
        expect(longer).toEqual([sent, sent]);
      });
    }
  }, 15_000);
  expect(sent).toBe(64);
});

it("A process foretells what it waits beside others as they themselves do, within a sixth of each window", async () => {
  const { time, process, call, callsAt } = room();
  const [one, other] = [process(), process()];
  const sixths = DOCUMENTED_WINDOWS.map(({ intervalMs }) => intervalMs / 6);
  const errors: number[] = [];
  const compare = (priority: number): void => {
    for (const [index, calls] of [10, 60, 500].entries()) {
      const [here, there] = [one, other].map((each) => each.estimateMs(calls, { priority }));
      // The pace of priority 9 is that of the longest window.
      errors.push(Math.abs(here! - there!) / sixths[priority === 9 ? 2 : index]!);
    }
  };
  await time.run(() => {
    callsAt(0, 0.2, 700, other);
    callsAt(10, 0.05, 150, other, { priority: 9 });
    for (let atS = 30; atS < 3_600; atS += 311)
      time.at(1_000 * atS, () => {
        const responded = call(one).then(() => call(other));
        void responded.then(() => [5, 9].forEach(compare));
      });
  }, 3_700_000);
  expect(errors).toHaveLength(72);
  expect(Math.max(...errors)).toBeLessThan(1);
});

it.each([
  [50, 30, 30, 10, 0.1, 100],
  [80, 10, 60, 40, 0.1, 100],
  [5, 0, 11, 1, 0.5, 20],
])(
  "After %i other calls and %i rows in a minute, %i more rows leave as they do without a store",
  async (others, earlier, rows, afterS, reserve, limit) => {
    const windows = [{ limit, intervalMs: 60_000 }];
    const leftAfter: number[] = [];
    for (const isShared of [false, true]) {
      const { time, process, call, callsAt } = room(windows);
      const clock = time.now;
      const one = isShared ? process(reserve) : new RateLimiter({ clock, windows, reserve });
      let lastAt = 0;
      await time.run(() => {
        callsAt(0, 10, others, isShared ? process(reserve) : one);
        callsAt(0, 10, earlier, one, { priority: 9 });
        time.at(1_000 * afterS, () => {
          for (let row = 0; row < rows; row += 1)
            void call(one, { priority: 9 }).then(() => (lastAt = time.now()));
        });
      }, 600_000);
      leftAfter.push(lastAt);
    }
    expect(leftAfter[0]).toBeGreaterThan(0);
    // The way to Redis and back, for each ten.
    expect(leftAfter[1]! - leftAfter[0]!).toBeLessThan(250);
  },
);
