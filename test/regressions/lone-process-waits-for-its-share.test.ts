import { AudienceClient, RateLimiter } from "audience-sdk";
import { expect, it } from "vitest";
import { storeOf } from "../../src/redis/redis-store.ts";
import { VirtualTime } from "../rate-limiter/virtual-time.ts";
import { MemoryScripts } from "../redis/memory-scripts.ts";

/** The wait, or the error, of a call of the first of several processes, shortly after their Redis fails. */
async function sentAt(
  processes: number,
  network: "refuses" | "hangs",
  request: object = {},
): Promise<unknown[]> {
  const time = new VirtualTime();
  const scripts = new MemoryScripts({ time });
  const limiters = Array.from(
    { length: processes },
    () => new RateLimiter({ clock: time.now, store: storeOf(scripts, scripts) }),
  );
  const ends: unknown[] = [];
  await time.run(() => {
    for (const limiter of limiters) {
      void Promise.resolve(limiter.acquire()).then((permit) =>
        time.after(100, () => permit.release("responded")),
      );
    }
    // Between two heartbeats, so that the call is the first to find Redis unavailable.
    time.at(2_500, () => (scripts.network = network));
    time.at(2_600, () => {
      const permit = Promise.resolve(limiters[0]!.acquire(request));
      permit.then(
        () => ends.push(time.now() - 2_600),
        (error: unknown) => ends.push(error),
      );
    });
  }, 20_000);
  return ends;
}

// Requests that others may have sent since the last contact counted as sent, although there were no others.
it("A process without others uses its share as soon as Redis is found unavailable", async () => {
  expect(await sentAt(1, "refuses")).toEqual([1]);
  expect(await sentAt(1, "hangs")).toEqual([1_000]);
});

it("A call of such a process with `maxWaitMs: 2000` is sent, too", async () => {
  expect(await sentAt(1, "refuses", { maxWaitMs: 2_000 })).toEqual([1]);
  expect(await sentAt(1, "hangs", { maxWaitMs: 2_000 })).toEqual([1_000]);
});

it("A process beside others waits until their possible requests have left the shortest window", async () => {
  const [ms] = await sentAt(2, "refuses");
  expect(ms).toBeGreaterThan(6_000);
  expect(ms).toBeLessThan(6_100);
});

// The wait was reported as 0, before Redis had replied.
it("The reported wait of such a call is its real wait", async () => {
  const waits: number[] = [];
  const [ms] = await sentAt(2, "refuses", { onWait: (waitMs: number) => waits.push(waitMs) });
  expect(waits).toHaveLength(1);
  expect(Math.abs(waits[0]! - Number(ms))).toBeLessThan(20);
});

it("A call whose permit Redis grants at once logs no wait", async () => {
  const time = new VirtualTime();
  const scripts = new MemoryScripts({ time });
  const lines: string[] = [];
  const debug = (line: string): void => void lines.push(line);
  const client = new AudienceClient({
    baseUrl: "https://api.example.com",
    apiKey: "abcdefgh",
    rateLimiter: new RateLimiter({ clock: time.now, store: storeOf(scripts, scripts) }),
    fetch: async () => Response.json({ data: { id: "1" } }),
    logger: { debug, info() {}, warn() {}, error() {} },
    logLevel: "debug",
  });
  const ended: Promise<unknown>[] = [];
  await time.run(() => ended.push(client.v1.customers.get("1")), 1_000);
  await Promise.all(ended);
  expect(lines.filter((line) => line.includes("waits"))).toEqual([]);
});
