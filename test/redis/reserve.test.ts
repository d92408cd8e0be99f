import { redisRateLimitStore } from "audience-sdk/redis";
import { expect, it } from "vitest";
import { DOCUMENTED_WINDOWS } from "../../src/limits.ts";
import { RateLimiter } from "../../src/rate-limiter/rate-limiter.ts";
import { besideAnImport } from "../rate-limiter/beside-an-import.ts";
import { refusedBySliding } from "../rate-limiter/server-count.ts";
import type { VirtualTime } from "../rate-limiter/virtual-time.ts";
import { MemoryRedis } from "./memory-redis.ts";

const mean = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

it("Of the calls of four processes none waits over two seconds beside the import of one, if 90 an hour come in fives", async () => {
  const limitersOf = (time: VirtualTime): RateLimiter[] => {
    const store = redisRateLimitStore(new MemoryRedis({ time }));
    return Array.from({ length: 4 }, () => new RateLimiter({ clock: time.now, store }));
  };
  const callsOfHours = [60, 90];
  const { waits, rowsOfHours, arrivals } = await besideAnImport({
    seed: 7,
    callsOfHours,
    together: 5,
    limitersOf,
  });
  expect(waits).toHaveLength(150);
  expect(Math.max(...waits)).toBeLessThanOrEqual(2_000);
  expect(mean(rowsOfHours)).toBeGreaterThanOrEqual(880);
  expect(refusedBySliding(arrivals, DOCUMENTED_WINDOWS)).toBe(0);
});
