import { afterEach, expect, it, vi } from "vitest";
import { RateLimiter } from "../../src/rate-limiter/rate-limiter.ts";

afterEach(() => void vi.useRealTimers());

it("A waiting call gets its permit, even if fake timers have removed its timer", async () => {
  vi.useFakeTimers();
  const limiter = new RateLimiter({ windows: [{ limit: 1, intervalMs: 50 }] });
  (await limiter.acquire()).release("responded");
  const waits = limiter.acquire();
  await vi.advanceTimersByTimeAsync(54);
  vi.useRealTimers();
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  const permit = await Promise.race([limiter.acquire(), waits]);
  expect(permit).toHaveProperty("release");
});
