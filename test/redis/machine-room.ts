import type { RateLimitWindow } from "audience-sdk";
import { createMockService, type MockListener, type MockService } from "audience-sdk/mock";
import { Redis } from "ioredis";
import type { TestContext } from "vitest";
import { Fleet, type Task } from "./fleet.ts";
import { RedisServer } from "./redis-server.ts";

/** The documented windows, scaled down: the second to 0.8 s, the minute to 4 s. */
const scaledWindows: readonly RateLimitWindow[] = [
  { limit: 10, intervalMs: 800 },
  { limit: 40, intervalMs: 4_000 },
  { limit: 400, intervalMs: 60_000 },
];

/** A room with these windows, until the end of the test. */
export async function openRoom(test: TestContext): Promise<MachineRoom> {
  const room = await MachineRoom.open(scaledWindows, [5, 80]);
  test.onTestFinished(() => room.close());
  return room;
}

/** A real Redis, the mock with the documented rate limit over HTTP, and processes that call it. */
export class MachineRoom {
  readonly redis: RedisServer;
  readonly fleet: Fleet;
  readonly mock: MockService;
  readonly windows: readonly RateLimitWindow[];
  readonly #listener: MockListener;

  private constructor(
    parts: Pick<MachineRoom, "redis" | "fleet" | "mock" | "windows">,
    listener: MockListener,
  ) {
    this.redis = parts.redis;
    this.fleet = parts.fleet;
    this.mock = parts.mock;
    this.windows = parts.windows;
    this.#listener = listener;
  }

  /** The jitter of `latencyMs` lets responses overtake one another. */
  static async open(windows: readonly RateLimitWindow[], latencyMs: [number, number]): Promise<MachineRoom> {
    const mock = createMockService({ rateLimits: { windows, algorithm: "sliding" }, latencyMs, seed: 7 });
    const [redis, fleet, listener] = await Promise.all([RedisServer.start(), Fleet.build(), mock.listen()]);
    return new MachineRoom({ redis, fleet, mock, windows }, listener);
  }

  task(calls: number, more: Partial<Task> = {}): Task {
    const { baseUrl, apiKey } = this.#listener.clientOptions;
    return {
      client: "ioredis 5",
      redisUrl: this.redis.url,
      service: { baseUrl, apiKey },
      windows: this.windows,
      store: {},
      calls,
      everyMs: 0,
      clockAheadMs: 0,
      ...more,
    };
  }

  /** How many calls the service refused. */
  get refused(): number {
    return this.mock.requests.filter(({ status }) => status === 429).length;
  }

  /** How many commands all processes have sent to Redis. Commands inside a script are not sent. */
  async commandsSent(): Promise<number> {
    const redis = new Redis(this.redis.port);
    const stats = await redis.info("commandstats");
    redis.disconnect();
    const sent = /^cmdstat_(?:evalsha|eval):calls=(\d+)/gm;
    return Array.from(stats.matchAll(sent), ([, calls]) => Number(calls)).reduce(
      (sum, calls) => sum + calls,
      0,
    );
  }

  async close(): Promise<void> {
    this.fleet.end();
    await this.#listener.close();
    await this.redis.end();
  }
}
