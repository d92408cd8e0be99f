import { expect, it } from "vitest";
import { RateLimitWaitError } from "../../src/errors.ts";
import { RateLimiter } from "../../src/rate-limiter/rate-limiter.ts";
import { storeOf } from "../../src/redis/redis-store.ts";
import { VirtualTime } from "../rate-limiter/virtual-time.ts";
import { MemoryScripts } from "../redis/memory-scripts.ts";

// The timer fired at the end of `maxWaitMs`, no call left the queue, and the timer was set again at once.
it("A call rejects after its `maxWaitMs`, even before Redis replies, and no timer fires in a loop until then", async () => {
  const time = new VirtualTime();
  const store = new MemoryScripts({ time, delayMs: () => 300 });
  const limiter = new RateLimiter({ clock: time.now, store: storeOf(store, store) });
  const log: unknown[] = [];
  const call = (maxWaitMs: number): void => {
    void Promise.resolve(limiter.acquire({ maxWaitMs })).then(
      (permit) => {
        log.push([time.now(), "sent"]);
        permit.release("responded");
      },
      (error: unknown) => log.push([Math.round(time.now() / 10) * 10, error]),
    );
  };
  let timers = 0;
  await time.run(() => {
    const { setTimeout } = globalThis;
    const counted = (...args: Parameters<typeof setTimeout>) => {
      timers += 1;
      return setTimeout(...args);
    };
    Object.assign(globalThis, { setTimeout: counted });
    call(100);
    call(1_000);
  }, 1_000);

  // The round trip to Redis takes 600 ms.
  expect(log).toEqual([
    [100, expect.any(RateLimitWaitError)],
    [600, "sent"],
  ]);
  expect(timers).toBeLessThan(20);
});

// The reply of Redis counted as a wait: with `maxWaitMs: 0` every call was refused, on an idle limiter too.
it("The reply of Redis is no wait for the limit: with `maxWaitMs: 0` the available permits are used", async () => {
  const time = new VirtualTime();
  const store = new MemoryScripts({ time, delayMs: () => 20 });
  const windows = [{ limit: 2, intervalMs: 60_000 }];
  const limiter = new RateLimiter({ clock: time.now, store: storeOf(store, store), windows });
  const log: string[] = [];
  await time.run(() => {
    for (let call = 1; call <= 3; call += 1) {
      void Promise.resolve(limiter.acquire({ maxWaitMs: 0 })).then(
        () => log.push(`${time.now()}: sent`),
        () => log.push(`${time.now()}: refused`),
      );
    }
  }, 1_000);
  expect(log).toEqual(["40: sent", "40: sent", "40: refused"]);
});
