import type { RedisLike, RedisRateLimitStoreOptions } from "audience-sdk/redis";
import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { recoveryMs } from "../../src/redis/script-protocol.ts";
import { clientKinds, type OpenClient } from "./clients.ts";
import { RawProcess } from "./raw-process.ts";
import { RedisServer } from "./redis-server.ts";
import { SetClock } from "./set-clock.ts";
import { describeWithRedis } from "./with-redis.ts";

const second = { limit: 3, countedMs: 1_000, isAdaptive: true };
const stateKey = "{audience-sdk:rate-limit}:state";
const minute = { limit: 10, countedMs: 60_000, isAdaptive: false };

describeWithRedis("the Redis store", () => {
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

  const process = (
    options: RedisRateLimitStoreOptions = {},
    windows = [second, minute],
    client: RedisLike = clock.client,
  ) => new RawProcess(client, windows, options);
  const passes = (ms: number) => clock.advance(ms);

  describe.each(clientKinds)("with a client of $name", ({ open }) => {
    let opened: OpenClient;
    const client = (): RedisLike => opened.client;
    beforeAll(() => void (opened = open({ port: server.port })));
    afterAll(() => opened.close());

    it("grants the permits that are available in every window, over all processes, and counts them", async () => {
      const [one, two] = [process({}, undefined, client()), process({}, undefined, redis)];

      const replies = [await one.acquire(2), await two.acquire(2)];

      expect(replies).toMatchObject([
        { granted: 2, waitMs: 0, used: [2, 2], rateFactor: 1, pausedMs: 0 },
        { granted: 1, used: [3, 3] },
      ]);
    });

    it("sends its scripts again to a Redis that has forgotten them", async () => {
      const one = process({}, undefined, client());
      await one.acquire(1);
      await redis.script("FLUSH");

      await expect(one.acquire(1)).resolves.toMatchObject({ granted: 1, used: [2, 2] });
    });

    it("rejects with the error message of Redis", async () => {
      await redis.set("{audience-sdk:rate-limit}:permits", "something else");

      await expect(process({}, undefined, client()).acquire(1)).rejects.toThrow("WRONGTYPE");
    });
  });

  it.each([
    ["the rights that the guide names", ["+info"]],
    ["no right to INFO", []],
  ])("works with %s", async (_rights, more) => {
    const commands = "eval get set pexpire time zadd zrem zcount zscore zrevrange zremrangebyscore".split(
      " ",
    );
    const rights = [...commands.map((command) => `+${command}`), ...more];
    await redis.acl("SETUSER", "limited", "reset", "on", ">word", "~{audience-sdk:rate-limit}:*", ...rights);
    const limited = new Redis(server.port, {
      username: "limited",
      password: "word",
      enableReadyCheck: false,
    });
    const one = process({}, undefined, limited);

    const { ids } = await one.acquire(5);
    await one.responded(ids.slice(1));
    await one.unsent(ids.slice(0, 1));

    await expect(one.acquire(2)).resolves.toMatchObject({ granted: 1, used: [3, 3] });
    limited.disconnect();
  });

  it("puts both Redis keys into one hash slot, whatever its `key` is", async () => {
    for (const key of ["audience-sdk:rate-limit", "{app}:limit", "a{b}c", "{}"]) {
      await redis.flushall();
      await process({ key }).acquire(1);

      const names = await redis.keys("*");

      expect(names).toHaveLength(2);
      expect(hashTag(names[0]!)).toBe(hashTag(names[1]!));
      expect(hashTag(names[0]!)).not.toBe("");
    }
  });

  it("keeps budgets of different keys apart", async () => {
    await process({ key: "one" }).acquire(3);

    await expect(process({ key: "other" }).acquire(3)).resolves.toMatchObject({ granted: 3 });
  });

  it("replies with the exact wait until the next permit is available", async () => {
    const one = process();
    const { ids } = await one.acquire(3);
    await one.responded(ids.slice(0, 1), 400);
    await one.responded(ids.slice(1), 100);

    const { waitMs } = await one.acquire(1);

    expect(waitMs).toBeGreaterThan(560);
    expect(waitMs).toBeLessThanOrEqual(600);
    passes(waitMs);
    await expect(one.acquire(2)).resolves.toMatchObject({ granted: 1 });
  });

  it("counts a permit in flight as released now when it computes the wait", async () => {
    await process().acquire(3);

    await expect(process().acquire(1)).resolves.toMatchObject({ granted: 0, waitMs: 1_000 });
  });

  it("makes a permit available one window after its response, and not after its acquisition", async () => {
    const one = process({ leaseMs: 10_000 });
    const { ids } = await one.acquire(3);
    passes(300);
    await one.responded(ids);
    passes(800);
    const before = await one.acquire(1);
    passes(before.waitMs);

    const after = await one.acquire(3);

    expect(before).toMatchObject({ granted: 0 });
    expect(after).toMatchObject({ granted: 3 });
  });

  it("counts a permit longer if its request may still arrive", async () => {
    const one = process();
    const { ids } = await one.acquire(3);
    await one.responded(ids, -500);
    passes(1_000);
    const before = await process().acquire(1);
    passes(500);

    const after = await process().acquire(1);

    expect([before.granted, after.granted]).toEqual([0, 1]);
  });

  it("makes an unsent permit available at once", async () => {
    const one = process();
    const { ids } = await one.acquire(3);
    await one.unsent(ids.slice(0, 2));

    await expect(one.acquire(3)).resolves.toMatchObject({ granted: 2, used: [3, 3] });
  });

  it("releases the permits of a killed process one window after its lease, and not before", async () => {
    await process({ leaseMs: 300 }).acquire(3);
    passes(1_200);
    const before = await process().acquire(1);
    passes(100);

    const after = await process().acquire(1);

    expect([before.granted, after.granted]).toEqual([0, 1]);
  });

  it("keeps the permits of a live process as long as it renews its lease", async () => {
    const one = process({ leaseMs: 300 }, [{ ...second, countedMs: 500 }]);
    const { ids } = await one.acquire(3);
    for (let beat = 0; beat < 5; beat += 1) {
      passes(200);
      await one.release(ids.map((id) => [id, "in flight"] as const));
    }

    await expect(one.acquire(1)).resolves.toMatchObject({ granted: 0, used: [3] });
  });

  it("pauses all processes after a 429, halves all limits but that of the longest window, and lets them grow back", async () => {
    const [one, two] = [
      process({}, [{ ...second, limit: 10 }, minute]),
      process({}, [{ ...second, limit: 10 }, minute]),
    ];
    await one.release([], { refusedForMs: 300 });
    const paused = await two.acquire(2);
    await one.release([], { refusedForMs: 100 });
    passes(300);
    const halved = await two.acquire(10);
    await two.unsent(halved.ids);
    await two.release([], { succeeded: 100 });
    const grown = await two.acquire(10);

    expect(paused).toMatchObject({ granted: 0, rateFactor: 0.5 });
    expect(paused.waitMs).toBeGreaterThan(290);
    expect(paused.pausedMs).toBeGreaterThan(290);
    expect(halved).toMatchObject({ granted: 5, rateFactor: 0.5, pausedMs: 0 });
    expect(grown).toMatchObject({ granted: 10, rateFactor: 1 });
  });

  it("halves the rate after a 429 without a pause, too", async () => {
    const one = process({}, [{ ...second, limit: 10 }, minute]);
    await one.release([], { refusedForMs: 0 });
    passes(1);

    await expect(one.acquire(10)).resolves.toMatchObject({ granted: 5, rateFactor: 0.5, pausedMs: 0 });
  });

  it.each([
    ["once for those of all processes within half a second", 498, 0.5],
    ["again for one half a second later", 500, 0.25],
  ])("halves the rate after 429s without a pause %s", async (_, laterMs, rateFactor) => {
    const [one, two] = [process(), process()];
    await one.release([], { refusedForMs: 0 });
    passes(laterMs);
    await two.release([], { refusedForMs: 0 });

    await expect(one.acquire(1)).resolves.toMatchObject({ rateFactor });
  });

  it("halves the rate also in a state that an earlier version of it has written, without that time", async () => {
    const one = process();
    await one.release([], { refusedForMs: 0 });
    const { slowedAt, ...earlier } = JSON.parse((await redis.get(stateKey))!); // the release has written it
    await redis.set(stateKey, JSON.stringify(earlier));
    passes(1);
    await one.release([], { refusedForMs: 0 });

    expect(slowedAt).toBeCloseTo(clock.nowMs, -1);
    await expect(one.acquire(1)).resolves.toMatchObject({ rateFactor: 0.25 });
  });

  it("never lowers the rate below 1/64, nor a limit below 1", async () => {
    const one = process();
    for (let refusal = 0; refusal < 8; refusal += 1) {
      await one.release([], { refusedForMs: 1 });
      passes(500);
    }

    await expect(one.acquire(3)).resolves.toMatchObject({ granted: 1, rateFactor: 1 / 64 });
  });

  it("keeps no permit in Redis that no window counts", async () => {
    const one = process({}, [{ ...second, countedMs: 50 }]);
    for (let round = 0; round < 6; round += 1) {
      const { ids } = await one.acquire(3);
      await one.responded(ids);
      passes(60);
    }
    await one.release([]);

    // Only the entry of the epoch is left.
    expect(await redis.zcard("{audience-sdk:rate-limit}:permits")).toBe(1);
  });

  it("lets both Redis keys expire after all windows, leases and pauses", async () => {
    const one = process({ leaseMs: 10_000 });
    await one.acquire(1);
    await one.release([], { refusedForMs: 3_600_000 });

    const [permits, state] = await Promise.all([
      redis.pttl("{audience-sdk:rate-limit}:permits"),
      redis.pttl(stateKey),
    ]);

    expect(permits).toBeGreaterThan(3_660_000);
    expect(permits).toBeLessThan(3_800_000);
    expect(Math.abs(state - permits)).toBeLessThan(100);
  });

  describe("its epoch", () => {
    it("stays the same, and a first request need not know it", async () => {
      const [one, two] = [await process().acquire(1), await process().acquire(1)];

      expect(two.epoch).toBe(one.epoch);
      expect(two.granted).toBe(1);
    });

    it.each([
      ["is flushed", () => redis.flushall()],
      ["loses the permits alone", () => redis.del("{audience-sdk:rate-limit}:permits")],
      ["loses the state alone", () => redis.del(stateKey)],
    ])(
      "changes when Redis %s, and no permit is granted until each process had time to report its own",
      async (_how, lose) => {
        const [one, two] = [process(), process()];
        const { ids, epoch } = await one.acquire(2);
        await two.acquire(0);
        await lose();

        const asked = await two.acquire(1);
        const reported = await one.responded(ids);
        const asksAgain = await one.acquire(1);

        expect(asked).toMatchObject({ granted: 0 });
        expect(asked.epoch).not.toBe(epoch);
        expect(asked.waitMs).toBeGreaterThan(recoveryMs - 100);
        expect(asked.waitMs).toBeLessThanOrEqual(recoveryMs + 1);
        expect(reported.used).toEqual([2, 2]);
        // The second process does not restart the recovery.
        expect(asksAgain).toMatchObject({ granted: 0 });
        expect(asksAgain.waitMs).toBeLessThanOrEqual(asked.waitMs);
      },
    );

    it("stays, but a recovery begins, when a process reports that it used its local fallback", async () => {
      const one = process();
      await one.acquire(1);
      await one.release([], { isReturning: true });

      const { granted, waitMs } = await process().acquire(1);

      expect(granted).toBe(0);
      expect(waitMs).toBeGreaterThan(recoveryMs - 100);
    });

    it("changes when Redis restarts with an old snapshot", async () => {
      const saving = await RedisServer.start("--appendonly", "no");
      const client = new Redis(saving.port);
      const one = process({}, undefined, client);
      const { epoch } = await one.acquire(1);
      await client.save();
      const { ids } = await one.acquire(2);
      await saving.kill();
      await saving.start();

      const asked = await one.acquire(1);
      const reported = await one.responded(ids);

      expect(asked).toMatchObject({ granted: 0, used: [1, 1] });
      expect(asked.epoch).not.toBe(epoch);
      expect(reported.used).toEqual([3, 3]);
      client.disconnect();
      await saving.end();
    });
  });

  it("counts a clock of Redis that was set back as no time passed", async () => {
    const one = process();
    const { ids } = await one.acquire(3);
    await one.responded(ids);
    passes(-3_600_000);

    const during = await one.acquire(1);
    passes(during.waitMs + 1);
    const after = await one.acquire(1);

    expect(during).toMatchObject({ granted: 0, used: [3, 3] });
    expect(during.waitMs).toBeGreaterThan(900);
    expect(during.waitMs).toBeLessThanOrEqual(1_000);
    expect(after).toMatchObject({ granted: 1 });
  });
});

function hashTag(name: string): string {
  const open = name.indexOf("{");
  const close = name.indexOf("}", open);
  return close > open + 1 ? name.slice(open + 1, close) : "";
}
