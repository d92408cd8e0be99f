import { expect, it } from "vitest";
import { openRoom } from "../redis/machine-room.ts";
import { describeWithRedis } from "../redis/with-redis.ts";

describeWithRedis("processes behind one IP", () => {
  it.concurrent("share the budget: the service refuses no call, and Redis receives few commands", async (test) => {
    const room = await openRoom(test);
    const clients = ["ioredis 5", "redis 5", "ioredis 6", "redis 6"] as const;
    await room.fleet.start(clients.map((client) => room.task(15, { client })));
    await room.fleet.done();

    expect(room.fleet.responded()).toHaveLength(60);
    expect(room.refused).toBe(0);
    // `redis-several-processes.test.ts` asserts on the lost time with a clock that it sets, `redis-fleet.test.ts` with real
    // time.
    expect((await room.commandsSent()) / 60).toBeLessThan(6);
  });

  it.concurrent("all get their permits when a scheduler starts twelve of them at the same moment", async (test) => {
    const room = await openRoom(test);
    const processes = Array.from({ length: 12 }, (_, worker) => worker);
    await room.fleet.start(processes.map(() => room.task(3)));
    await room.fleet.done();

    expect(room.refused).toBe(0);
    // The order depends on the load of the machine; `redis-several-processes.test.ts` asserts on it with a clock that it
    // sets.
    for (const worker of processes) expect(room.fleet.responded(worker)).toHaveLength(3);
  });
});
