import { RateLimiter } from "audience-sdk";
import { afterEach, expect, it, vi } from "vitest";

const oneASecond = { windows: [{ limit: 1, intervalMs: 1_000 }] };

afterEach(() => void vi.useRealTimers());

it("time that is set back counts as no time passed", async () => {
  let now = 1_000;
  const limiter = new RateLimiter({ ...oneASecond, clock: () => now });
  (await limiter.acquire()).release("responded");
  now = 400;
  expect(limiter.usage().windows[0]).toMatchObject({ used: 1, freeInMs: 1_006 });
  now = 1_405;
  expect(limiter.usage().windows[0]).toMatchObject({ used: 1, freeInMs: 1 });
  now = 1_406;
  expect(limiter.usage().windows[0]).toMatchObject({ used: 0, freeInMs: 0 });
});

it("the process is kept alive, by a timer, while a call waits, and not by an idle limiter", async () => {
  // Only timers that keep the process alive are listed. No other one can end meanwhile, as nothing here takes a turn.
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  const before = timers();
  const limiter = new RateLimiter({ windows: [{ limit: 1, intervalMs: 200 }] });
  const held: number[] = [];
  const holds = () => held.push(timers() - before);
  (await limiter.acquire()).release("responded");
  holds();
  const controller = new AbortController();
  const waits = limiter.acquire({ signal: controller.signal });
  holds();
  controller.abort("gave up");
  await expect(waits).rejects.toBe("gave up");
  holds();
  expect(held).toEqual([0, 1, 0]);
});
