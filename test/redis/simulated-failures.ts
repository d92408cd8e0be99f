import { redisRateLimitStore } from "audience-sdk/redis";
import { type Permit, RateLimiter } from "../../src/rate-limiter/rate-limiter.ts";
import { refusedBySliding } from "../rate-limiter/server-count.ts";
import { randomFrom } from "../rate-limiter/simulation.ts";
import { VirtualTime } from "../rate-limiter/virtual-time.ts";
import { MemoryRedis } from "./memory-redis.ts";

const windows = [
  { limit: 8, intervalMs: 1_000 },
  { limit: 40, intervalMs: 20_000 },
  { limit: 200, intervalMs: 600_000 },
];
const processes = 4;
const begin = 100;
const failuresUntil = 90_000;

interface Ended {
  /** How many calls a server with sliding windows refused. */
  readonly refused: number;
  /** How many calls still wait at the end. */
  readonly waiting: number;
  /** What befell the store, and when. */
  readonly log: readonly string[];
}

/** Bursts of calls from four processes and failures of Redis, all at random times. */
export async function runWithFailures(seed: number, failures: number): Promise<Ended> {
  const random = randomFrom(seed);
  const time = new VirtualTime();
  const slowestMs = 50 * random();
  const redis = new MemoryRedis({ time, delayMs: () => 1 + slowestMs * random() });
  const store = redisRateLimitStore(redis);
  const limiters = Array.from(
    { length: processes },
    () => new RateLimiter({ clock: time.now, store, windows }),
  );
  const arrivals: number[] = [];
  const log: string[] = [];
  let waiting = 0;
  const send = (permit: Permit): void => {
    waiting -= 1;
    const end = random();
    if (end < 0.05) return permit.release("unsent");
    const [outMs, backMs] = [5 + 300 * random(), 300 * random()];
    arrivals.push(time.now() + outMs);
    time.after(outMs + backMs, () => (end < 0.1 ? permit.release("lost") : permit.release("responded")));
  };
  const burst = (limiter: RateLimiter, calls: number): void => {
    waiting += calls;
    for (let call = 0; call < calls; call += 1) void limiter.acquire().then(send);
  };
  const failure = (): void => {
    const at = begin + failuresUntil * random();
    const kind =
      (["refuses", "hangs", "loses replies", "empty"] as const)[Math.floor(4 * random())] ?? "empty";
    time.at(at, () => {
      log.push(`${Math.round(at)} ${kind}`);
      if (kind === "empty") redis.loseMemory();
      else redis.network = kind;
    });
    if (kind !== "empty") time.after(at + 30_000 * random(), () => (redis.network = "up"));
  };
  await time.run(() => {
    for (const limiter of limiters) {
      // Each process contacts Redis once, because otherwise it does not know of the others.
      burst(limiter, 1);
      for (let round = 0; round < 6; round += 1) {
        time.at(begin + failuresUntil * random(), () => burst(limiter, Math.floor(15 * random())));
      }
    }
    for (let round = 0; round < failures; round += 1) failure();
  }, failuresUntil + 60_000);
  // Most runs have ended by then. This skips minutes of heartbeats.
  if (waiting > 0) await time.run(() => {}, 900_000);
  return { refused: refusedBySliding(arrivals, windows), waiting, log };
}
