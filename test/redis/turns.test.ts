import { DOCUMENTED_WINDOWS, RateLimiter } from "audience-sdk";
import { redisRateLimitStore } from "audience-sdk/redis";
import { expect, it } from "vitest";
import { randomFrom, refusedBySliding } from "../rate-limiter/simulation.ts";
import { VirtualTime } from "../rate-limiter/virtual-time.ts";
import { MemoryRedis } from "./memory-redis.ts";

const aMinuteOf20Seconds = [
  { limit: 10, intervalMs: 1_000 },
  { limit: 40, intervalMs: 6_000 },
  { limit: 100, intervalMs: 20_000 },
];
const tenTimesShorter = DOCUMENTED_WINDOWS.map(({ limit, intervalMs }) => ({
  limit,
  intervalMs: intervalMs / 10,
}));

it.each([
  { processes: 3, priority: 5, windows: aMinuteOf20Seconds, seconds: 58, calls: 300 },
  { processes: 3, priority: 9, windows: aMinuteOf20Seconds, seconds: 58, calls: 270 },
  { processes: 3, priority: 5, windows: tenTimesShorter, seconds: 90, calls: 1_000 },
  { processes: 20, priority: 5, windows: aMinuteOf20Seconds, seconds: 118, calls: 600 },
])(
  "Processes that wait take turns: $processes of six loops at priority $priority have equal parts of all $calls calls",
  async ({ processes, priority, windows, seconds, calls }) => {
    const time = new VirtualTime();
    const random = randomFrom(7);
    const redis = new MemoryRedis({ time, delayMs: () => 0.2 + 0.3 * random() });
    const store = redisRateLimitStore(redis);
    const responded = Array<number>(processes).fill(0);
    const arrivals: number[] = [];
    const loop = async (process: number, limiter: RateLimiter): Promise<void> => {
      for (;;) {
        const permit = await limiter.acquire({ priority });
        const [outMs, backMs] = [20 + 40 * random(), 20 + 40 * random()];
        arrivals.push(time.now() + outMs);
        await new Promise<void>((resolve) => void time.after(outMs + backMs, resolve));
        permit.release("responded");
        responded[process]! += 1;
      }
    };
    await time.run(() => {
      for (let process = 0; process < processes; process += 1) {
        const limiter = new RateLimiter({ clock: time.now, windows, store });
        for (let lane = 0; lane < 6; lane += 1) time.at(50 * random(), () => void loop(process, limiter));
      }
    }, seconds * 1_000);

    const all = responded.reduce((sum, count) => sum + count, 0);
    expect(all).toBe(calls);
    expect(Math.min(...responded) / (all / processes)).toBeGreaterThan(0.85);
    expect(refusedBySliding(arrivals, windows)).toBe(0);
    // One to ask and one to report, and now and then one from each that waits.
    expect(redis.requests.length / all).toBeLessThan(5);
  },
);
