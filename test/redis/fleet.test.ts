import { expect, it, type TestContext } from "vitest";
import { MachineRoom } from "./machine-room.ts";
import { describeWithRedis } from "./with-redis.ts";

// The documented windows, scaled down: the second to 0.8 s, the minute to 4 s.
const windows = [
  { limit: 10, intervalMs: 800 },
  { limit: 40, intervalMs: 4_000 },
  { limit: 400, intervalMs: 60_000 },
];

async function openRoom(test: TestContext): Promise<MachineRoom> {
  const room = await MachineRoom.open(windows, [5, 80]);
  test.onTestFinished(() => room.close());
  return room;
}

describeWithRedis("processes behind one IP", () => {
  it.concurrent("share the budget: none is refused, few commands are sent", async (test) => {
    const room = await openRoom(test);
    const clients = ["ioredis 5", "redis 5", "ioredis 6", "redis 6"] as const;
    await room.fleet.start(clients.map((client) => room.task(15, { client })));
    await room.fleet.done();

    expect(room.fleet.responded()).toHaveLength(60);
    expect(room.refused).toBe(0);
    // How little time is lost is shown by `fifty-processes.test.ts` on a clock that is set, and by the soak with real time.
    expect((await room.commandsSent()) / 60).toBeLessThan(6);
  });

  it.concurrent("are twelve, started at the same moment by a scheduler: each is served", async (test) => {
    const room = await openRoom(test);
    const processes = Array.from({ length: 12 }, (_, worker) => worker);
    await room.fleet.start(processes.map(() => room.task(3)));
    await room.fleet.done();

    expect(room.refused).toBe(0);
    // In which order hangs here on how busy the machine is: `fifty-processes.test.ts` shows it on a clock that is set.
    for (const worker of processes) expect(room.fleet.responded(worker)).toHaveLength(3);
  });
});
