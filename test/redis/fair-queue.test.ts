import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import type { AcquireReply } from "../../src/redis/script-protocol.ts";
import { RawProcess } from "./raw-process.ts";
import { RedisServer } from "./redis-server.ts";
import { SetClock } from "./set-clock.ts";
import { describeWithRedis } from "./with-redis.ts";

const windows = [{ limit: 8, countedMs: 400, isAdaptive: false }];

describeWithRedis("processes that wait for the same budget", () => {
  let server: RedisServer;
  let redis: Redis;
  let clock: SetClock;

  beforeAll(async () => {
    server = await RedisServer.start();
    redis = new Redis(server.port);
    clock = new SetClock(redis);
  });
  beforeEach(() => redis.flushall());
  afterAll(async () => {
    redis.disconnect();
    await server.end();
  });

  const process = () => new RawProcess(clock.client, windows);
  /** Acquires all permits and releases them at once as responded, so that the other processes must wait. */
  const fill = async () => {
    const one = process();
    await one.responded((await one.acquire(8)).ids);
  };
  const soonAfter = (replies: readonly AcquireReply[]) =>
    clock.advance(Math.max(...replies.map(({ waitMs }) => waitMs)));

  it("get equal shares, in whatever order they ask", async () => {
    await fill();
    const [greedy, other, third, fourth] = [process(), process(), process(), process()];
    const replies = [
      await greedy.acquire(60),
      await other.acquire(60),
      await third.acquire(60),
      await fourth.acquire(60),
    ];
    soonAfter(replies);

    const got = [
      await greedy.acquire(60),
      await fourth.acquire(60),
      await third.acquire(60),
      await other.acquire(60),
    ];

    expect(got.map(({ granted }) => granted)).toEqual([2, 2, 2, 2]);
  });

  it("leave unused permits to the process with the greater demand", async () => {
    await fill();
    const [greedy, modest] = [process(), process()];
    soonAfter([await modest.acquire(1), await greedy.acquire(60)]);

    const got = [await greedy.acquire(60), await modest.acquire(1)];

    expect(got.map(({ granted }) => granted)).toEqual([7, 1]);
  });

  it("get permits in the order in which they began to wait, if there are fewer permits than processes", async () => {
    await fill();
    const processes = Array.from({ length: 10 }, process);
    const replies: AcquireReply[] = [];
    for (const one of processes) replies.push(await one.acquire(5));
    // The last two get the time of the window after.
    soonAfter(replies.slice(0, 8));

    const granted: number[] = [];
    for (const one of processes.toReversed()) granted.push((await one.acquire(5)).granted);

    expect(granted.toReversed()).toEqual([1, 1, 1, 1, 1, 1, 1, 1, 0, 0]);
  });

  it("requeue at the back after each permit, so that every process gets one", async () => {
    const processes = Array.from({ length: 20 }, process);
    const turns = processes.map(() => 0);
    let rounds = 0;
    // The order of the requests is always the same: without round robin the first few would get every permit.
    while (turns.includes(0) && rounds < 20) {
      rounds += 1;
      for (const [index, one] of processes.entries()) {
        const { ids, granted } = await one.acquire(50);
        turns[index]! += granted;
        await one.responded(ids);
      }
      clock.advance(400);
    }

    expect(rounds).toBeLessThanOrEqual(4);
    expect(Math.max(...turns)).toBeLessThanOrEqual(8 + 2);
  });

  it("get a longer wait the further back they are in the queue", async () => {
    const one = process();
    const { ids } = await one.acquire(8);
    for (const [index, id] of ids.entries()) await one.responded([id], 300 - 40 * index);

    const waits: number[] = [];
    for (let index = 0; index < 4; index += 1) waits.push((await process().acquire(1)).waitMs);

    for (const [index, waitMs] of waits.entries()) {
      expect(waitMs).toBeGreaterThan(100 + 40 * index - 25);
      expect(waitMs).toBeLessThanOrEqual(100 + 40 * index);
    }
  });

  it("do not wait long for a process that was killed in the queue", async () => {
    await fill();
    const [killed, other] = [process(), process()];
    soonAfter([await killed.acquire(60), await other.acquire(60)]);
    const kept = await other.acquire(60);

    clock.advance(kept.waitMs);
    const left = await other.acquire(60);

    expect(kept.granted).toBe(4);
    expect(kept.waitMs).toBeLessThanOrEqual(250);
    expect(left.granted).toBe(4);
  });

  it("lose no permit to a process whose wait has not ended", async () => {
    await fill();
    const [waits, comes] = [process(), process()];
    const { waitMs } = await waits.acquire(8);
    // A permit becomes available earlier than the wait said.
    const held = await redis.zrange("{audience-sdk:rate-limit}:permits", 1, 1);
    await redis.zrem("{audience-sdk:rate-limit}:permits", held[0]!);

    await expect(comes.acquire(1)).resolves.toMatchObject({ granted: 1 });
    expect(waitMs).toBeGreaterThan(300);
  });
});
