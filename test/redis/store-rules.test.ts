import type { RedisLike, RedisRateLimitStoreOptions } from "audience-sdk/redis";
import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { clientKinds, type OpenClient } from "./clients.ts";
import { RedisServer } from "./redis-server.ts";
import { RawProcess, SetClock } from "./script-in-redis.ts";
import { describeWithRedis } from "./with-redis.ts";

const second = { limit: 3, intervalMs: 1_000, countedMs: 1_000 };
const minute = { limit: 10, intervalMs: 60_000, countedMs: 60_000 };
const keysOf = (key: string) => ["permits", "others", "state"].map((name) => `{${key}}:${name}`);

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

      const replies = [await one.ask(2), await two.ask(2)];

      expect(replies).toMatchObject([
        { granted: 2, waitMs: 0, used: [2, 2], rateFactor: 1, pausedMs: 0 },
        { granted: 1, used: [3, 3] },
      ]);
    });
  });

  describe("writes anew what is not its own in its keys, so that it is met once", () => {
    const [permits, others, state] = keysOf("audience-sdk:rate-limit") as [string, string, string];
    const far = 4e12;
    const spoil = async (change: object) => {
      const text = (await redis.get(state)) ?? expect.unreachable();
      await redis.set(state, JSON.stringify({ ...(JSON.parse(text) as object), ...change }));
    };
    /** Further ahead than a lease, and no further than a pause. */
    const ahead = () => clock.nowMs + 600_000;

    it.each<[string, () => Promise<unknown>]>([
      ["a string in place of the permits", () => redis.set(permits, "something else")],
      ["a list in place of the permits of others", () => (void redis.del(others), redis.lpush(others, "1"))],
      ["a hash in place of the state", () => (void redis.del(state), redis.hset(state, "a", "b"))],
      ["text that is no JSON", () => redis.set(state, "{ not JSON")],
      ["text that is no number", () => spoil({ pausedUntil: "soon" })],
      ["JSON that is no object", () => redis.set(state, "5")],
      ["a pause without end", () => spoil({ pausedUntil: far })],
      ["a rate of nothing", () => spoil({ rateFactor: -1 })],
      ["a clock in the far future", () => spoil({ lastAt: far })],
      ["a turn of priority 9 that is to come", () => spoil({ taken: [{ id: "x", at: ahead() }] })],
      ["a refusal that is to come", () => spoil({ slowedAt: ahead() })],
      ["turns that are none", () => spoil({ taken: [5] })],
      ["a process that waits too long", () => spoil({ waiting: [{ process: "x", dueAt: ahead() }] })],
      ["permits in the far future", () => redis.zadd(permits, far, "a", "+inf", "b")],
      ["a permit further ahead than a lease", () => redis.zadd(permits, ahead(), "a")],
    ])("%s", async (_, write) => {
      const one = process();
      const { ids, data } = await one.ask(1);
      await one.responded(ids, -100);
      await write();

      const met = await one.ask(1);
      await one.write(ids.map((id) => [id, false, 0] as const));
      const after = await one.ask(3);

      expect(met).toMatchObject({ granted: 1, pausedMs: 0, rateFactor: 1 });
      // Each process writes its permits for data with another name.
      expect(met.data).not.toBe(data);
      expect(after.data).toBe(met.data);
      expect(after).toMatchObject({ granted: 1, used: [3, 3] });
    });

    it.each([
      ["of the longest lease of all processes", 60_000, "in flight"],
      ["of a call that was lost, which is longer than the lease", 1_000, -5_000],
      ["of a process whose clock was set back", 1_000, -3_600_000],
    ] as const)(
      "but keeps the permit %s, also if the clock of Redis is set back",
      async (_, leaseMs, age) => {
        const [one, other] = [process({ leaseMs }), process({ leaseMs: 1_000 })];
        const { ids } = await one.ask(1);
        const { data } = await one.write([[ids[0]!, false, age]]);
        passes(-5);

        await expect(other.ask(1)).resolves.toMatchObject({ data, used: [2, 2] });
      },
    );

    it("and takes no number of permits above the limit for one of its own", async () => {
      await redis.zadd(
        permits,
        ...Array.from({ length: 5_000 }, (_, index) => [clock.nowMs, `${index}`]).flat(),
      );

      await expect(process().ask(1)).resolves.toMatchObject({ granted: 0, used: [3, 10] });
    });
  });

  it.each([
    ["the rights that the guide names", ["+info"]],
    ["no right to INFO", []],
  ])("works with %s", async (_rights, more) => {
    const commands = "eval get set del pexpire time zadd zrem zcount zrevrange zremrangebyscore".split(" ");
    const rights = [...commands.map((command) => `+${command}`), ...more];
    await redis.acl("SETUSER", "limited", "reset", "on", ">word", "~{audience-sdk:rate-limit}:*", ...rights);
    const limited = new Redis(server.port, {
      username: "limited",
      password: "word",
      enableReadyCheck: false,
    });
    const one = process({}, undefined, limited);

    const { ids } = await one.ask(5);
    await one.responded(ids.slice(1));
    await one.unsent(ids.slice(0, 1));

    await expect(one.ask(2)).resolves.toMatchObject({ granted: 1, used: [3, 3] });
    limited.disconnect();
  });

  it("puts its Redis keys into one hash slot, whatever its `key` is", async () => {
    for (const key of ["audience-sdk:rate-limit", "{app}:limit", "a{b}c", "{}"]) {
      await redis.flushall();
      await process({ key }).ask(1);

      const names = await redis.keys("*");

      expect(names.toSorted()).toEqual(keysOf(key).toSorted());
      expect(new Set(names.map(hashTag)).size).toBe(1);
      expect(hashTag(names[0]!)).not.toBe("");
    }
  });

  it("keeps no permit in Redis that no window counts", async () => {
    const one = process({}, [{ ...second, countedMs: 50 }]);
    for (let round = 0; round < 6; round += 1) {
      const { ids } = await one.ask(3);
      await one.responded(ids);
      passes(60);
    }
    await one.write([]);

    expect(await redis.keys("*")).toEqual(["{audience-sdk:rate-limit}:state"]);
  });

  it("lets its Redis keys expire after all windows, leases and pauses", async () => {
    const one = process({ leaseMs: 10_000 });
    await one.ask(1);
    await one.request({ refusedForMs: 3_600_000 });

    const ttls = await Promise.all(keysOf("audience-sdk:rate-limit").map((key) => redis.pttl(key)));

    // An hour, the longest window and a minute more, less what has passed since.
    for (const ttl of ttls) expect(ttl).toSatisfy((ms: number) => ms > 3_660_000 && ms < 3_800_000);
  });

  it("has another name for its data when Redis restarts with an old snapshot", async () => {
    const saving = await RedisServer.start("--appendonly", "no");
    const client = new Redis(saving.port);
    const one = process({}, undefined, client);
    const { data } = await one.ask(1);
    await client.save();
    await one.ask(2);
    await saving.kill();
    await saving.start();

    const asked = await one.ask(0);

    expect(asked.used).toEqual([1, 1]);
    expect(asked.data).not.toBe(data);
    client.disconnect();
    await saving.end();
  });

  it("gives priority 9 at once the half of what it may while the others have called, and then evenly: ten in a while", async () => {
    const last = { isLast: true, reserve: 0.1 };
    const one = process({}, [{ limit: 1_000, intervalMs: 100_000, countedMs: 100_000 }]);
    await one.ask(1);
    const { ids, granted } = await one.ask(900, last);
    await one.write(ids.map((id) => [id, true, 0] as const));
    const taken: number[] = [];
    for (let turn = 0; turn < 4; turn += 1) {
      const { waitMs } = await one.ask(1, last);
      passes(waitMs);
      // Ten of the 450 each 45th of the rest of the window, in steps of a 24th of it.
      expect(waitMs / (100_000 / 45)).toBeCloseTo(1, 0);
      taken.push((await one.ask(20, last)).granted);
    }
    expect({ granted, taken }).toEqual({ granted: 450, taken: [10, 10, 10, 10] });
  });

  it.each([
    ["one permit for each that is due, and then for priority 9", 0, 1_010, [1, 0, 1, 1]],
    ["none that comes back before they were told to ask", 1_000, 10, [3, 0, 0, 0]],
    ["none for one that is a second late", 0, 2_010, [3, 0, 0, 0]],
  ])("keeps for processes that wait longer %s", async (_, ageMs, passedMs, granted) => {
    const [first, other, ofLast, newest] = [process(), process(), process(), process()] as const;
    const { ids } = await first.ask(3);
    const inTurn = [() => ofLast.ask(1, { isLast: true }), () => other.ask(1), () => first.ask(1)];
    for (const ask of inTurn) await ask();
    await first.responded(ids, ageMs);
    passes(passedMs);

    const replies = [await newest.ask(3)];
    for (const ask of inTurn) replies.push(await ask());

    expect(replies.map((reply) => reply.granted)).toEqual(granted);
  });

  it("moves a process that has got some of its permits behind the others that wait", async () => {
    const [one, other] = [process(), process()];
    const granted: number[] = [];
    const turn = async (wanted: number): Promise<void> => {
      const { ids } = await one.ask(wanted);
      granted.push(ids.length, (await other.ask(1)).granted);
      await one.responded(ids);
      passes(1_010);
    };
    // Both wait, this one first.
    for (const wanted of [4, 4, 3]) await turn(wanted);

    expect(granted).toEqual([3, 0, 3, 0, 2, 1]);
  });

  it("counts a clock of Redis that was set back as no time passed", async () => {
    const one = process();
    const { ids } = await one.ask(3);
    await one.responded(ids);
    passes(-3_600_000);

    const during = await one.ask(1);
    passes(during.waitMs + 1);
    const after = await one.ask(1);

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
