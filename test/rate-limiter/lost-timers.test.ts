import { afterEach, expect, it, vi } from "vitest";
import { type Place, RateLimiter } from "../../src/rate-limiter/rate-limiter.ts";

afterEach(() => void vi.useRealTimers());

it("A waiting call gets its place after fake timers took its own with them", async () => {
  vi.useFakeTimers();
  const limiter = new RateLimiter({ windows: [{ limit: 1, intervalMs: 50 }] });
  (limiter.take() as Place).answered(); // free, so no promise
  const waits = limiter.take();
  await vi.advanceTimersByTimeAsync(54);
  vi.useRealTimers();
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  const place = await Promise.race([limiter.take(), waits]);
  expect(place).toHaveProperty("answered");
});
