import { RateLimiter } from "audience-sdk";
import { redisRateLimitStore, type RedisLike } from "audience-sdk/redis";
// What a permit costs that several processes share: npx tsx test/benchmark/redis.ts
// On loopback, with a Redis that this program starts. Times depend on the machine, commands do not.
import { Redis } from "ioredis";
import { createClient } from "redis";
import { hasRedis, RedisServer } from "../redis/redis-server.ts";

const calls = 2_000;
const targetMs = 1;
const windows = [
  { limit: 1_000_000, intervalMs: 1_000 },
  { limit: 1_000_000, intervalMs: 60_000 },
  { limit: 1_000_000, intervalMs: 3_600_000 },
];

/** One call after the other: how long each waits for its permit. */
async function waitsOf(client: RedisLike, key: string): Promise<number[]> {
  const limiter = new RateLimiter({ windows, store: redisRateLimitStore(client, { key }) });
  const waitsMs: number[] = [];
  for (let call = 0; call < calls; call += 1) {
    const before = performance.now();
    const permit = await limiter.acquire();
    waitsMs.push(performance.now() - before);
    permit.release("responded");
    limiter.succeeded();
  }
  return waitsMs.toSorted((a, b) => a - b);
}

async function commandsOf(redis: Redis): Promise<number> {
  const stats = await redis.info("commandstats");
  const sent = stats.matchAll(/^cmdstat_eval(?:sha)?:calls=(\d+)/gm);
  return Array.from(sent, ([, count]) => Number(count)).reduce((sum, count) => sum + count, 0);
}

async function measure(): Promise<void> {
  const server = await RedisServer.start();
  const redis = new Redis(server.port);
  const other = await createClient({ url: server.url }).connect();
  try {
    for (const [name, client] of [
      ["ioredis", redis],
      ["redis", other],
    ] as const) {
      await waitsOf(client, `${name}: to warm up`);
      const before = await commandsOf(redis);
      const waitsMs = await waitsOf(client, name);
      const perCall = (await commandsOf(redis)) - before;
      const [p50, p99] = [waitsMs[calls * 0.5]!, waitsMs[calls * 0.99]!];
      const times = `p50 ${p50.toFixed(3)} ms, p99 ${p99.toFixed(3)} ms`;
      console.log(
        `a shared permit, ${name.padEnd(8)} ${times}, ${(perCall / calls).toFixed(2)} commands a call`,
      );
      console.log(`p50 under ${targetMs} ms: ${p50 < targetMs ? "yes" : "NO"}`);
      if (p50 >= targetMs) process.exitCode = 1;
    }
  } finally {
    redis.disconnect();
    other.destroy();
    await server.end();
  }
}

if (hasRedis) await measure();
else {
  console.error(
    "a shared permit: NOT MEASURED, there is no redis-server (Debian: apt-get install redis-server)",
  );
  process.exitCode = 1;
}
