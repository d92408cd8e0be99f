import { expect, it } from "vitest";
import { RateLimitWaitError } from "../../src/errors.ts";
import { RateLimiter } from "../../src/rate-limiter/rate-limiter.ts";
import { sharePlaces } from "../../src/store-places/share-places.ts";
import { VirtualTime } from "../rate-limiter/virtual-time.ts";
import { MemoryStore } from "../store-places/memory-store.ts";

// A window of which nothing is left was taken for a period without calls, and a time divided by it.
it.each([
  ["a share is no place", { limit: 2, localShare: 1 / 4, tookMs: 2_000 }],
  // Two at once, and the third a window later.
  ["nothing is left for now", { limit: 4, localShare: 1 / 2, tookMs: 1_000 }],
])(
  "While the store is away and %s, waits are still told as numbers",
  async (_, { limit, localShare, tookMs }) => {
    const time = new VirtualTime();
    const store = new MemoryStore({ time, localShare });
    const windows = [{ limit, intervalMs: 1_000 }];
    const limiter = new RateLimiter({ clock: time.now, store: sharePlaces(store), windows });
    const estimates: number[] = [];
    const errors: unknown[] = [];
    await time.run(() => {
      void Promise.resolve(limiter.acquire()).then((place) => place.release("responded"));
      time.at(1_500, () => (store.network = "refuses"));
      time.at(3_000, () => {
        void Promise.resolve(limiter.acquire({ maxWaitMs: 100 })).catch((error: unknown) =>
          errors.push(error),
        );
        estimates.push(limiter.estimateMs(1), limiter.estimateMs(3));
      });
    }, 5_000);
    const [one, three] = estimates as [number, number]; // pushed above
    expect(one).toBeGreaterThan(4_000);
    expect(three - one).toBeCloseTo(tookMs, -2);
    const error = errors[0] as RateLimitWaitError; // judged in the next line
    expect(error).toBeInstanceOf(RateLimitWaitError);
    expect(error.waitMs).toBeCloseTo(one, -2);
    expect(error.retryAt.getTime()).not.toBeNaN();
  },
);
