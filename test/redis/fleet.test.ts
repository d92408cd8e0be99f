import { afterEach, beforeEach, expect, it } from "vitest";
import { bestLastAnswer } from "../rate-limiter/simulation.ts";
import { MachineRoom } from "./machine-room.ts";
import { describeWithRedis } from "./with-redis.ts";

// The documented windows, scaled down: the second to 0.8 s, the minute to 4 s.
const windows = [
  { limit: 10, intervalMs: 800 },
  { limit: 40, intervalMs: 4_000 },
  { limit: 400, intervalMs: 60_000 },
];
const latencyMs: [number, number] = [5, 80];

describeWithRedis("four processes behind one IP", () => {
  let room: MachineRoom;
  beforeEach(async () => {
    room = await MachineRoom.open(windows, latencyMs);
  });
  afterEach(() => room.close());

  it(
    "share the budget: none is refused, little time is lost, few commands are sent",
    { timeout: 30_000 },
    async () => {
      const clients = ["ioredis", "redis", "ioredis", "redis"] as const;
      await room.fleet.start(clients.map((client) => room.task(28, { client })));
      await room.fleet.done();

      expect(room.fleet.answered()).toHaveLength(112);
      expect(room.refused).toBe(0);
      const lastMs = Math.max(...room.fleet.endings.map(({ atMs }) => atMs));
      const idealMs = bestLastAnswer({ seed: 7, askedAt: Array(112).fill(0), delayMs: [2.5, 40], windows });
      console.log({ lastMs, idealMs, ratio: lastMs / idealMs, perCall: (await room.commandsSent()) / 112 });
      console.log(
        [0, 1, 2, 3].map((worker) =>
          room.fleet
            .answered(worker)
            .map(({ atMs }) => Math.round(atMs))
            .join(" "),
        ),
      );
      expect(lastMs / idealMs).toBeLessThan(1.05);
      expect((await room.commandsSent()) / 112).toBeLessThan(6);
    },
  );
});
