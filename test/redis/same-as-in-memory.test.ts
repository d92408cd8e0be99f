import fc from "fast-check";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runs } from "../properties/runs.ts";
import { MemoryRedis } from "./memory-redis.ts";
import { RedisServer } from "./redis-server.ts";
import { RawProcess, type ScriptRequest, SetClock, type WrittenPermit } from "./script-in-redis.ts";
import { describeWithRedis } from "./with-redis.ts";

// A sixth of each has few digits: the JSON of Redis keeps fourteen.
const windows = [
  { limit: 3, intervalMs: 1_000, countedMs: 1_005 },
  { limit: 10, intervalMs: 20_000, countedMs: 20_013 },
  { limit: 25, intervalMs: 120_000, countedMs: 120_066 },
];

/** What happens to a Redis; `which` selects one of the granted permits. */
const step = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      kind: fc.constant("request" as const),
      process: fc.constantFrom("A", "B", "C"),
      wanted: fc.integer({ min: 0, max: 12 }),
      isLast: fc.boolean(),
      reserve: fc.constantFrom(0, 0.1, 0.5),
      leaseMs: fc.constantFrom(4_000, 4_000, 6_000),
      permits: fc.array(
        fc.record({
          which: fc.nat(40),
          state: fc.oneof(
            fc.constantFrom("in flight" as const, "unsent" as const),
            fc.integer({ min: -8_000, max: 30_000 }),
          ),
        }),
        { maxLength: 6 },
      ),
      // Eighths are kept exactly, in binary and in the fourteen digits of the JSON in Redis.
      succeeded: fc.constantFrom(0, 25, 50, 100),
      refusedForMs: fc.option(fc.integer({ min: 0, max: 3_000 }), { nil: undefined, freq: 9 }),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("pass" as const),
      // Turns last for a second.
      ms: fc.oneof(fc.integer({ min: 1, max: 900 }), fc.integer({ min: 1, max: 9_000 })),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("lose memory" as const) }) },
);

describeWithRedis("the script in Redis", () => {
  let server: RedisServer;
  let redis: Redis;

  beforeAll(async () => {
    server = await RedisServer.start();
    redis = new Redis(server.port);
  });
  afterAll(async () => {
    redis.disconnect();
    await server.end();
  });

  it("replies to any sequence of requests as the second implementation in memory does, and keeps the same permits until the same times", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), async (steps) => {
        await redis.flushall();
        const clock = new SetClock(redis, 1);
        const inRedis = new RawProcess(clock.client, windows, { leaseMs: 4_000 });
        const inMemory = new MemoryRedis({ time: { now: () => clock.nowMs, after: () => 0 } });
        const granted: { id: string; isLast: boolean }[] = [];
        for (const one of steps) {
          if (one.kind === "pass") {
            clock.advance(one.ms);
            continue;
          }
          if (one.kind === "lose memory") {
            await redis.flushall();
            inMemory.loseMemory();
            continue;
          }
          const { kind: _, wanted, permits, ...more } = one;
          const ids = Array.from({ length: wanted }, (_each, index) => `permit ${granted.length + index}`);
          const written = permits.flatMap(({ which, state }): WrittenPermit[] => {
            const permit = granted[which % Math.max(1, granted.length)];
            return permit ? [[permit.id, permit.isLast, state]] : [];
          });
          const request: ScriptRequest = { ...more, windows, ids, permits: written };
          const reply = await inRedis.request(request);
          const expected = inMemory.run({ ...request, newData: "any" });
          expect({ ...reply, data: "any" }).toEqual({ ...expected, data: "any" });
          const kept = await redis.zrange("{audience-sdk:rate-limit}:permits", 0, -1, "WITHSCORES");
          const state = (await redis.get("{audience-sdk:rate-limit}:state")) ?? expect.unreachable();
          // Written by the script, as whose JSON an empty list is {}.
          const { taken } = JSON.parse(state) as { taken: Record<number, { id: string }> };
          expect(Object.values(taken).map(({ id }) => id)).toEqual(inMemory.turns);
          const inThatRedis = kept.flatMap((id, index) => (index % 2 ? [] : [[id, Number(kept[index + 1])]]));
          const here = inMemory.permitsWithin(120_066);
          expect(Object.fromEntries(inThatRedis)).toEqual(
            Object.fromEntries(here.map(([id, at]) => [id, expect.closeTo(at, 2) as number])),
          );
          granted.push(...ids.slice(0, expected.granted).map((id) => ({ id, isLast: one.isLast })));
        }
      }),
      runs(400),
    );
  });
});
