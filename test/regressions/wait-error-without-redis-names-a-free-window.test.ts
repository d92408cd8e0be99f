import { expect, it } from "vitest";
import { RateLimitWaitError } from "../../src/errors.ts";
import { RateLimiter } from "../../src/rate-limiter/rate-limiter.ts";
import { storeOf } from "../../src/redis/redis-store.ts";
import { VirtualTime } from "../rate-limiter/virtual-time.ts";
import { MemoryScripts } from "../redis/memory-scripts.ts";

const second = { limit: 8, intervalMs: 1_000 };
const minute = { limit: 16, intervalMs: 60_000 };

// The window was searched with the shared limits, and the wait came from the share.
it.each([
  ["its share of a second is used", { window: second, before: 0, without: [10_000, 10_000] }],
  ["its share of a minute is used", { window: minute, before: 0, without: [5_000, 7_000, 9_000] }],
  ["other processes have used a minute", { window: minute, before: 15, without: [] }],
])("The error of a process without Redis names the window that is full, if %s", async (_, situation) => {
  const time = new VirtualTime();
  const store = new MemoryScripts({ time });
  const windows = [second, minute];
  const process = () => new RateLimiter({ clock: time.now, store: storeOf(store, store), windows });
  const [limiter, other] = [process(), process()];
  const call = async (caller: RateLimiter): Promise<void> => (await caller.acquire()).release("responded");
  const errors: unknown[] = [];
  await time.run(() => {
    void call(limiter);
    for (let calls = 0; calls < situation.before; calls += 1) void call(other);
    // Its heartbeat has told it of the others.
    time.at(3_000, () => (store.network = "refuses"));
    for (const at of situation.without) time.at(at, () => void call(limiter));
    time.at(10_100, () => {
      const refused = Promise.resolve(limiter.acquire({ maxWaitMs: 0 }));
      void refused.catch((error: unknown) => errors.push(error));
    });
  }, 12_000);

  expect(errors).toEqual([expect.any(RateLimitWaitError)]);
  expect(errors).toMatchObject([{ window: situation.window }]);
});
