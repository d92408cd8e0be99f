import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { eventually } from "../eventually.ts";
import { MachineRoom, type Task } from "../redis/machine-room.ts";
import { describeWithRedis } from "../redis/with-redis.ts";

const clients = ["ioredis 5", "redis 5", "ioredis 6", "redis 6"] as const;

/** Four processes with the same task. */
function four(room: MachineRoom, calls: number, more: Partial<Task>): Task[] {
  return clients.map((client) => room.task(calls, { client, ...more }));
}

describeWithRedis("every call ends, and no limit is exceeded but around an outage, if", () => {
  // `redis-in-virtual-time.test.ts` asserts on the lost time of fifty, with a clock that it sets.
  it("twelve processes start simultaneously, and Redis receives few commands", async (test) => {
    const room = await MachineRoom.open(test);
    const processes = Array.from({ length: 12 }, (_, worker) => worker);
    await room.fleet.start(processes.map((worker) => room.task(5, { client: clients[worker % 4]! })));
    await room.fleet.done();

    expect(room.refused).toBe(0);
    for (const worker of processes) expect(room.fleet.responded(worker)).toHaveLength(5);
    expect((await room.commandsSent()) / 60).toBeLessThan(20);
  });

  describe.concurrent("on real processes", () => {
    it("a process is killed during its calls and started again", async (test) => {
      const room = await MachineRoom.open(test);
      const store = { leaseMs: 2_000 };
      await room.fleet.start(four(room, 12, { store }));
      await sleep(1_000);
      room.fleet.kill(0);
      await room.fleet.start([room.task(10, { store })]);
      await room.fleet.done();

      expect(room.refused).toBe(0);
      for (const worker of [1, 2, 3]) expect(room.fleet.responded(worker)).toHaveLength(12);
      expect(room.fleet.responded(4)).toHaveLength(10);
    });

    it.for(["local", "reject"] as const)(
      "Redis is killed for 3 s and comes back empty, with %j",
      async (onUnavailable, test) => {
        const room = await MachineRoom.open(test);
        await room.fleet.start(four(room, 1_000, { everyMs: 450, store: { onUnavailable } }));
        await sleep(2_000);
        await room.redis.kill();
        await sleep(3_000);
        await room.redis.start();
        const before = [0, 1, 2, 3].map((worker) => room.fleet.responded(worker).length);
        // Each Redis client reconnects in its own time.
        await eventually(() =>
          before.forEach((calls, worker) =>
            expect(room.fleet.responded(worker).length).toBeGreaterThan(calls + 3),
          ),
        );
        room.fleet.stop();
        await room.fleet.done();

        // An empty Redis does not know the last calls of all processes at once.
        expect(room.refused).toBeLessThanOrEqual(10);
        const ways = new Set(room.fleet.endings.map(({ ended }) => ended));
        ways.delete("rate_limit"); // the few that were refused
        expect([...ways].sort()).toEqual(
          onUnavailable === "local" ? ["responded"] : ["rate_limit_wait", "responded"],
        );
      },
    );
  });
});
