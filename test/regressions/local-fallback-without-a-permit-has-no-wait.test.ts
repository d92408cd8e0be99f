import { expect, it } from "vitest";
import { RateLimitWaitError } from "../../src/errors.ts";
import { RateLimiter } from "../../src/rate-limiter/rate-limiter.ts";
import { storeOf } from "../../src/redis/redis-store.ts";
import { VirtualTime } from "../rate-limiter/virtual-time.ts";
import { MemoryScripts } from "../redis/memory-scripts.ts";

// A window without permits left counted as a rate of 0, and a time was divided by it.
it.each([
  // Redis is tried again a second later; two permits are then available at once, and the third one window later.
  ["its share is below one permit", { limit: 2, localShare: 1 / 4, leastMs: 999 }],
  ["no permit is left for now", { limit: 4, localShare: 1 / 2, leastMs: 4_000 }],
])(
  "A process without Redis estimates finite waits, even if %s",
  async (_, { limit, localShare, leastMs }) => {
    const time = new VirtualTime();
    const store = new MemoryScripts({ time, localShare });
    const windows = [{ limit, intervalMs: 1_000 }];
    const process = () => new RateLimiter({ clock: time.now, store: storeOf(store, store), windows });
    const [limiter, other] = [process(), process()];
    const estimates: number[] = [];
    const errors: unknown[] = [];
    await time.run(() => {
      for (const each of [limiter, other]) {
        void Promise.resolve(each.acquire()).then((permit) => permit.release("responded"));
      }
      time.at(1_500, () => (store.network = "refuses"));
      time.at(3_000, () => {
        void Promise.resolve(limiter.acquire({ maxWaitMs: 100 })).catch((error: unknown) =>
          errors.push(error),
        );
        estimates.push(limiter.estimateMs(1), limiter.estimateMs(3));
      });
    }, 5_000);
    const [one, three] = estimates as [number, number]; // pushed above
    expect(one).toBeGreaterThan(leastMs);
    expect(three - one).toBeCloseTo(1_000, -2);
    const error = errors[0] as RateLimitWaitError; // checked in the next line
    expect(error).toBeInstanceOf(RateLimitWaitError);
    expect(error.waitMs).toBeCloseTo(one, -2);
    expect(error.retryAt.getTime()).not.toBeNaN();
  },
);
