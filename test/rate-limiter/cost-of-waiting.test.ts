import { getEventListeners } from "node:events";
import { RateLimiter } from "audience-sdk";
import { expect, it } from "vitest";
import { garbageCollector } from "../garbage-collector.ts";
import { VirtualTime } from "./virtual-time.ts";

it("a call that waited and was aborted leaves nothing in memory", async () => {
  const limiter = new RateLimiter();
  const collect = garbageCollector();
  const round = async (calls: number) => {
    const controllers = Array.from({ length: calls }, () => new AbortController());
    for (const { signal } of controllers) getEventListeners(signal, "abort");
    collect();
    const before = process.memoryUsage().heapUsed;
    for (const { signal } of controllers) {
      void Promise.resolve(limiter.acquire({ signal, maxWaitMs: 1e12, onWait: () => {} })).catch(() => {});
    }
    for (const controller of controllers) controller.abort();
    controllers.length = 0;
    await new Promise((resolve) => setTimeout(resolve, 0));
    collect();
    return (process.memoryUsage().heapUsed - before) / calls;
  };
  // The very first calls allocate memory that stays.
  await round(1_000);

  // A waiting call that is still referenced keeps some hundreds of bytes.
  expect(await round(1_000)).toBeLessThan(100);
});

it("a thousand calls that wait with deadlines are served in well under a second of CPU", async () => {
  const time = new VirtualTime();
  const limiter = new RateLimiter({ clock: time.now, windows: [{ limit: 200, intervalMs: 1 }] });
  const cpuBefore = process.cpuUsage();
  let sent = 0;
  await time.run(() => {
    for (let call = 0; call < 1_000; call += 1) {
      const request = { maxWaitMs: 1_000 + call, onWait: () => {}, client: [limiter, time][call % 2] };
      void Promise.resolve(limiter.acquire(request)).then((permit) => {
        sent += 1;
        permit.release("responded");
      });
    }
  });
  expect(sent).toBe(1_000);
  expect(process.cpuUsage(cpuBefore).user).toBeLessThan(1_000_000);
});

it("aborting 1,000 waiting calls takes some milliseconds of CPU", async () => {
  const limiter = new RateLimiter();
  const controllers = Array.from({ length: 1_010 }, () => new AbortController());
  let rejected = 0;
  for (const { signal } of controllers) {
    void Promise.resolve(limiter.acquire({ signal, maxWaitMs: 1e9 })).catch(() => (rejected += 1));
  }
  const before = process.cpuUsage();
  for (const controller of controllers) controller.abort();
  const cpuUs = process.cpuUsage(before).user;
  await new Promise((resolve) => setTimeout(resolve, 0));

  expect(rejected).toBe(1_000);
  expect(limiter.usage().queued).toBe(0);
  // 3 ms; it would be much more if each call searched through the others.
  expect(cpuUs).toBeLessThan(50_000);
});
