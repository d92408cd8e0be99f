import { expect, it, onTestFinished } from "vitest";
import { bestLastResponse } from "../rate-limiter/simulation.ts";
import { MachineRoom, openRoom } from "../redis/machine-room.ts";
import { describeWithRedis } from "../redis/with-redis.ts";
import { leastWithin } from "./measures.ts";

describeWithRedis("processes behind one IP", () => {
  it.concurrent("share the budget: the service refuses no call, and Redis receives few commands", async (test) => {
    const room = await openRoom(test);
    const clients = ["ioredis 5", "redis 5", "ioredis 6", "redis 6"] as const;
    await room.fleet.start(clients.map((client) => room.task(15, { client })));
    await room.fleet.done();

    expect(room.fleet.responded()).toHaveLength(60);
    expect(room.refused).toBe(0);
    // `redis-several-processes.test.ts` asserts on the lost time with a clock that it sets, the test below with real time.
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

// The documented windows, with the minute as a quarter of one.
const windows = [
  { limit: 10, intervalMs: 1_000 },
  { limit: 100, intervalMs: 15_000 },
  { limit: 1_000, intervalMs: 3_600_000 },
];

describeWithRedis("real processes over a long time", () => {
  async function openFleet(latencyMs: [number, number]): Promise<MachineRoom> {
    const room = await MachineRoom.open(windows, latencyMs);
    onTestFinished(() => room.close());
    return room;
  }

  it("four processes take at most 1.05 of the ideal time, and no request is refused", async () => {
    const idealMs = bestLastResponse({ seed: 7, askedAt: Array(400).fill(0), delayMs: [2.5, 60], windows });

    const ofIdeal = await leastWithin(1.05, async () => {
      const room = await openFleet([5, 120]);
      const clients = ["ioredis 5", "redis 5", "ioredis 6", "redis 6"] as const;
      await room.fleet.start(clients.map((client) => room.task(100, { client })));
      await room.fleet.done();

      const lastMs = Math.max(...room.fleet.endings.map(({ atMs }) => atMs));
      const perCall = (await room.commandsSent()) / 400;
      console.log(`${(lastMs / idealMs).toFixed(3)} of the ideal, ${perCall.toFixed(2)} commands a call`);
      expect(room.fleet.responded()).toHaveLength(400);
      expect(room.refused).toBe(0);
      expect(perCall).toBeLessThan(6);
      return lastMs / idealMs;
    });

    expect(ofIdeal).toBeLessThanOrEqual(1.05);
  });

  it("fifty processes that start simultaneously all get their permits, and no request is refused", async () => {
    const room = await openFleet([5, 120]);
    const processes = Array.from({ length: 50 }, (_, worker) => worker);
    await room.fleet.start(processes.map(() => room.task(4)));
    await room.fleet.done();

    expect(room.refused).toBe(0);
    for (const worker of processes) expect(room.fleet.responded(worker)).toHaveLength(4);
    const perCall = (await room.commandsSent()) / 200;
    console.log(`${perCall.toFixed(2)} commands a call`);
    expect(perCall).toBeLessThan(20);
  });
});
