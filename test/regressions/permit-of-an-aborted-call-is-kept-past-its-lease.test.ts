import { expect, it } from "vitest";
import { RateLimiter } from "../../src/rate-limiter/rate-limiter.ts";
import { storeOf } from "../../src/redis/redis-store.ts";
import { VirtualTime } from "../rate-limiter/virtual-time.ts";
import { MemoryScripts } from "../redis/memory-scripts.ts";

// It was kept for the next call, and Redis counted it as responded to once its lease had ended.
it("A permit whose only call was aborted while Redis was asked is returned as soon as it is granted", async () => {
  const time = new VirtualTime();
  const store = new MemoryScripts({ time, delayMs: () => 10, leaseMs: 10_000 });
  const windows = [{ limit: 2, intervalMs: 1_000 }];
  const limiter = new RateLimiter({ clock: time.now, store: storeOf(store, store), windows });
  const held: number[] = [];
  await time.run(() => {
    const controller = new AbortController();
    void Promise.resolve(limiter.acquire({ signal: controller.signal })).catch(() => {});
    time.at(5, () => controller.abort());
    time.at(15, () => held.push(store.inFlight));
    time.at(50, () => held.push(store.inFlight));
  }, 100);

  expect(held).toEqual([1, 0]);
});
