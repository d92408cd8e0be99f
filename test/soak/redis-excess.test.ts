import { DOCUMENTED_WINDOWS, RateLimiter } from "audience-sdk";
import { redisRateLimitStore } from "audience-sdk/redis";
import { expect, it, vi } from "vitest";
import { randomFrom } from "../rate-limiter/simulation.ts";
import { VirtualTime } from "../rate-limiter/virtual-time.ts";
import { MemoryRedis } from "../redis/memory-redis.ts";

const minuteMs = 60_000;

/** By how many calls four processes that always have calls exceed each window, with one failure of Redis in the hour. */
async function excess(
  kind: "refuses" | "hangs" | "loses replies" | "is emptied",
  seed: number,
): Promise<number[]> {
  const time = new VirtualTime();
  const random = randomFrom(seed);
  vi.spyOn(Math, "random").mockImplementation(random);
  const redis = new MemoryRedis({ time, delayMs: () => 1 + 4 * random() });
  const store = redisRateLimitStore(redis);
  const arrivals: number[] = [];
  const work = async (limiter: RateLimiter): Promise<void> => {
    while (time.now() < 90 * minuteMs) {
      const permit = await limiter.acquire();
      const [outMs, backMs] = [5 + 145 * random(), 5 + 145 * random()];
      arrivals.push(time.now() + outMs);
      await new Promise<void>((resolve) => void time.after(outMs + backMs, resolve));
      permit.release("responded");
    }
  };
  await time.run(() => {
    for (let process = 0; process < 4; process += 1) {
      const limiter = new RateLimiter({ clock: time.now, store });
      for (let worker = 0; worker < 5; worker += 1) void work(limiter);
    }
    const failsAt = random() * 12 * minuteMs;
    time.at(failsAt, () => {
      if (kind === "is emptied") redis.loseMemory();
      else redis.network = kind;
    });
    time.at(failsAt + random() * 5 * minuteMs, () => (redis.network = "up"));
  }, 75 * minuteMs);
  const sorted = arrivals.toSorted((a, b) => a - b);
  return DOCUMENTED_WINDOWS.map(({ limit, intervalMs }) => {
    let [first, most] = [0, 0];
    for (const [index, at] of sorted.entries()) {
      while (sorted[first]! <= at - intervalMs) first += 1;
      most = Math.max(most, index - first + 1);
    }
    return Math.max(0, most - limit);
  });
}

it.each(["refuses", "hangs", "loses replies", "is emptied"] as const)(
  "Four busy processes exceed each documented window by no more than the guide says, if Redis %s",
  async (kind) => {
    const found: number[][] = [];
    for (const seed of [1, 2, 18]) found.push(await excess(kind, seed));
    console.log(kind, JSON.stringify(found));
    const most = DOCUMENTED_WINDOWS.map((_, index) => Math.max(...found.map((each) => each[index]!)));
    expect(Math.max(...most)).toBeLessThanOrEqual(kind === "is emptied" ? 20 : 27);
  },
);
