import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { eventually } from "../eventually.ts";
import { MachineRoom } from "../redis/machine-room.ts";
import { describeWithRedis } from "../redis/with-redis.ts";

const clients = ["ioredis 5", "redis 5", "ioredis 6", "redis 6"] as const;

// `redis-in-virtual-time.test.ts` asserts on the lost time of fifty processes; test/redis has slow replies, set clocks, and a
// Redis that is emptied.
describeWithRedis("every call ends, and no limit is exceeded but around an outage, if", () => {
  it("twelve processes start simultaneously", async (test) => {
    const room = await MachineRoom.open(test);
    await room.start([...clients, ...clients, ...clients], { calls: 5 });
    await room.done();

    expect(room.refused).toBe(0);
    expect(room.endings).toEqual(Array(12).fill(Array(5).fill("responded")));
  });

  describe.concurrent("on real processes", () => {
    it("a process is killed during its calls and started again", async (test) => {
      const room = await MachineRoom.open(test);
      const store = { leaseMs: 2_000 };
      await room.start(clients, { calls: 12, store });
      await sleep(1_000);
      room.kill(0);
      await room.start(["ioredis 5"], { calls: 10, store });
      await room.done();

      expect(room.refused).toBe(0);
      expect([1, 2, 3, 4].map((worker) => room.responded(worker))).toEqual([12, 12, 12, 10]);
    });

    it.for(["local", "reject"] as const)(
      "Redis is killed for 3 s and comes back empty, with %j",
      async (onUnavailable, test) => {
        const room = await MachineRoom.open(test);
        await room.start(clients, { calls: 1_000, everyMs: 450, store: { onUnavailable } });
        await sleep(2_000);
        await room.redis.kill();
        await sleep(3_000);
        await room.redis.start();
        const before = clients.map((_, worker) => room.responded(worker));
        // Each Redis client reconnects in its own time.
        await eventually(() =>
          before.forEach((calls, worker) => expect(room.responded(worker)).toBeGreaterThan(calls + 3)),
        );
        room.stop();
        await room.done();

        // An empty Redis does not know the last calls of all processes at once.
        expect(room.refused).toBeLessThanOrEqual(10);
        const ways = new Set(room.endings.flat());
        ways.delete("rate_limit"); // the few that were refused
        expect([...ways].sort()).toEqual(
          onUnavailable === "local" ? ["responded"] : ["rate_limit_wait", "responded"],
        );
      },
    );
  });
});
