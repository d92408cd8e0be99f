import fc from "fast-check";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, it } from "vitest";
import { redisScripts } from "../../src/redis/redis-client.ts";
import type { PermitState, ScriptReply } from "../../src/redis/script-protocol.ts";
import { runs } from "../properties/runs.ts";
import { MemoryScripts } from "./memory-scripts.ts";
import { RedisServer } from "./redis-server.ts";
import { SetClock } from "./set-clock.ts";
import { describeWithRedis } from "./with-redis.ts";

const windows = [
  { limit: 3, countedMs: 1_000, isAdaptive: true },
  { limit: 10, countedMs: 20_000, isAdaptive: true },
  { limit: 25, countedMs: 120_000, isAdaptive: false },
];
const leaseMs = 4_000;

/** An event of a Redis store; `which` selects one of the granted permits. */
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant("acquire" as const), permits: fc.integer({ min: 0, max: 12 }) }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("release" as const),
      permits: fc.array(
        fc.record({
          which: fc.nat(40),
          state: fc.oneof(
            fc.constantFrom("in flight" as const, "unsent" as const),
            fc.integer({ min: -5_000, max: 30_000 }),
          ),
        }),
        { maxLength: 6 },
      ),
      // Eighths are kept exactly, in binary and in the fourteen digits of the JSON in Redis.
      succeeded: fc.constantFrom(0, 25, 50, 100),
      isReturning: fc.integer({ min: 0, max: 9 }).map((number) => number === 0),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("refused" as const),
      forMs: fc.integer({ min: 1, max: 3_000 }),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant("pass" as const), ms: fc.integer({ min: 1, max: 9_000 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("lose memory" as const) }) },
);

describeWithRedis("the scripts in Redis", () => {
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

  it("reply to any sequence of requests in the same way as the second implementation in memory", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), async (steps) => {
        await redis.flushall();
        const clock = new SetClock(redis, 1);
        const inRedis = redisScripts(clock.client, "key");
        const inMemory = new MemoryScripts({ time: { now: () => clock.nowMs, after: () => 0 } });
        const ids: string[] = [];
        let epochs: { redis: string; memory: string } | undefined;
        /** Both get the same request at the same time, each with its own epoch. */
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
          const base = { process: "the only one", windows, leaseMs };
          if (one.kind === "acquire") {
            const asked = Array.from({ length: one.permits }, (_, index) => `permit ${ids.length + index}`);
            const reply = await inRedis.acquire({ ...base, ids: asked, epoch: epochs?.redis });
            const expected = inMemory.acquireNow({ ...base, ids: asked, epoch: epochs?.memory });
            expect(unnamed(reply)).toEqual(unnamed(expected));
            ids.push(...asked.slice(0, reply.granted));
            epochs = { redis: reply.epoch, memory: expected.epoch };
          } else {
            const report = {
              ...base,
              succeeded: one.kind === "release" ? one.succeeded : 0,
              isReturning: one.kind === "release" && one.isReturning,
              permits:
                one.kind === "release" ? one.permits.flatMap((permit) => permitStateOf(permit, ids)) : [],
              ...(one.kind === "refused" ? { refusedForMs: one.forMs } : {}),
            };
            const reply = await inRedis.release({ ...report, epoch: epochs?.redis });
            const expected = inMemory.releaseNow({ ...report, epoch: epochs?.memory });
            expect(unnamed(reply)).toEqual(unnamed(expected));
            epochs = { redis: reply.epoch, memory: expected.epoch };
          }
        }
      }),
      runs(400),
    );
  });
});

function permitStateOf(
  { which, state }: { which: number; state: PermitState[1] },
  ids: string[],
): PermitState[] {
  const id = ids[which % Math.max(1, ids.length)];
  return id === undefined ? [] : [[id, state]];
}

/** The two implementations name their epochs differently. */
function unnamed(state: ScriptReply): object {
  return { ...state, epoch: "any" };
}
