import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { widenedMs } from "../../src/rate-limiter/sliding-window-log.ts";
import { heartbeatMs } from "../../src/redis/script-protocol.ts";
import { bestLastResponse, randomFrom } from "../rate-limiter/simulation.ts";
import { RawProcess } from "./raw-process.ts";
import { RedisServer } from "./redis-server.ts";
import { SetClock } from "./set-clock.ts";
import { describeWithRedis } from "./with-redis.ts";

// The documented windows, with the minute shortened to 15 seconds.
const documented = [
  { limit: 10, intervalMs: 1_000 },
  { limit: 100, intervalMs: 15_000 },
];
const windows = documented.map(({ limit, intervalMs }) => ({
  limit,
  countedMs: widenedMs(intervalMs),
  isAdaptive: true,
}));

describeWithRedis("fifty processes that begin at the same moment", () => {
  let server: RedisServer;
  let redis: Redis;

  beforeAll(async () => {
    server = await RedisServer.start();
    redis = new Redis(server.port);
  });
  beforeEach(() => redis.flushall());
  afterAll(async () => {
    redis.disconnect();
    await server.end();
  });

  it("each get a permit within the first windows, with fewer than 6 Redis commands a call", async () => {
    const { first, lastMs, commands, responded } = await play(50, 50);

    expect(responded).toBe(200);
    // Ten a second: the fiftieth in the fifth window.
    expect(Math.max(...first)).toBeLessThan(6_000);
    const load = { seed: 7, askedAt: Array<number>(200).fill(0), delayMs: [2.5, 120] as const };
    expect(lastMs / bestLastResponse({ ...load, windows: documented })).toBeLessThan(1.05);
    expect(commands / responded).toBeLessThan(6);
  });

  it("do not wait for processes that are killed in the queue", async () => {
    const { first, responded } = await play(50, 10);

    expect(responded).toBeGreaterThanOrEqual(40);
    expect(Math.max(...first.slice(0, 10))).toBeLessThan(8_000);
  });

  /** Each of `count` processes demands four permits, on a clock that the test sets. All but `kept` are killed after half a second. */
  async function play(count: number, kept: number) {
    const clock = new SetClock(redis, 0.1);
    const random = randomFrom(7);
    const begin = clock.nowMs;
    const due: { at: number; happens: () => Promise<void> }[] = [];
    const plan = (afterMs: number, happens: () => Promise<void>): void => {
      due.push({ at: clock.nowMs + afterMs, happens });
      due.sort((a, b) => a.at - b.at);
    };
    const first: number[] = [];
    let [commands, responded, lastMs] = [0, 0, 0];
    const start = (worker: number): void => {
      const process = new RawProcess(clock.client, windows);
      const lives = (): boolean => worker < kept || clock.nowMs < begin + 500;
      let [wanted, sentAt] = [4, begin];
      const sends = (): void => {
        commands += 1;
        sentAt = clock.nowMs;
      };
      const ask = async (): Promise<void> => {
        if (!lives()) return;
        sends();
        const { ids, waitMs } = await process.acquire(wanted);
        wanted -= ids.length;
        for (const id of ids) plan(5 + 235 * random(), () => end(id));
        if (ids.length > 0) first[worker] ??= clock.nowMs - begin;
        if (wanted > 0) plan(Math.max(1, waitMs) + 2 * random(), ask);
      };
      const end = async (id: string): Promise<void> => {
        if (!lives()) return;
        sends();
        await process.responded([id]);
        responded += 1;
        lastMs = clock.nowMs - begin;
      };
      const beat = async (): Promise<void> => {
        if (!lives() || wanted === 0) return;
        if (clock.nowMs - sentAt >= heartbeatMs / 2) {
          sends();
          await process.release([]);
        }
        plan(heartbeatMs, beat);
      };
      plan(20 * random(), ask);
      plan(heartbeatMs, beat);
    };
    for (let worker = 0; worker < count; worker += 1) start(worker);
    for (let step = 0; step < 5_000 && due.length > 0; step += 1) {
      const { at, happens } = due.shift()!;
      if (at > clock.nowMs) clock.advance(at - clock.nowMs);
      await happens();
    }
    expect(due).toEqual([]);
    return { first, lastMs, commands, responded };
  }
});
