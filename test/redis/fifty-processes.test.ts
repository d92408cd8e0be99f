import { redisRateLimitStore } from "audience-sdk/redis";
import { expect, it } from "vitest";
import { type Permit, RateLimiter } from "../../src/rate-limiter/rate-limiter.ts";
import { bestLastResponse, randomFrom } from "../rate-limiter/simulation.ts";
import { VirtualTime } from "../rate-limiter/virtual-time.ts";
import { MemoryRedis } from "./memory-redis.ts";

// The documented windows, with the minute shortened to 15 seconds.
const windows = [
  { limit: 10, intervalMs: 1_000 },
  { limit: 100, intervalMs: 15_000 },
];

it("Fifty processes that begin at the same moment all get their four permits in the time that the windows allow", async () => {
  const time = new VirtualTime();
  const random = randomFrom(7);
  const redis = new MemoryRedis({ time, delayMs: () => 0.2 + 2 * random() });
  const firsts: number[] = [];
  let [responded, lastMs, commands] = [0, 0, 0];
  const limiters = Array.from(
    { length: 50 },
    () => new RateLimiter({ clock: time.now, windows, store: redisRateLimitStore(redis) }),
  );
  await time.run(() => {
    for (const [worker, limiter] of limiters.entries()) {
      const send = (permit: Permit): void => {
        firsts[worker] ??= time.now();
        time.after(5 + 235 * random(), () => {
          permit.release("responded");
          [responded, lastMs, commands] = [responded + 1, time.now(), redis.requests.length];
        });
      };
      for (let call = 0; call < 4; call += 1) void limiter.acquire().then(send);
    }
  }, 60_000);

  expect(responded).toBe(200);
  // No process has a turn before the others, and none waits until all of them are done.
  expect(Math.max(...firsts)).toBeLessThan(30_000);
  const load = { seed: 7, askedAt: Array<number>(200).fill(0), delayMs: [2.5, 120] as const };
  expect(lastMs / bestLastResponse({ ...load, windows })).toBeLessThan(1.1);
  expect(commands / responded).toBeLessThan(12);
});
