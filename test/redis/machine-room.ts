import { fork, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RateLimitWindow } from "audience-sdk";
import {
  createMockService,
  type MockClientOptions,
  type MockListener,
  type MockService,
} from "audience-sdk/mock";
import type { RedisRateLimitStoreOptions } from "audience-sdk/redis";
import { Redis } from "ioredis";
import type { TestContext } from "vitest";
import { bundleProgram } from "../bundle-program.ts";
import type { ClientName } from "./clients.ts";
import { RedisServer } from "./redis-server.ts";

/** The documented windows, scaled down: the second to 0.8 s, the minute to 4 s. */
const windows: readonly RateLimitWindow[] = [
  { limit: 10, intervalMs: 800 },
  { limit: 40, intervalMs: 4_000 },
  { limit: 400, intervalMs: 60_000 },
];

/** A real Redis, the mock with the documented rate limit over HTTP, and processes that call it. */
export class MachineRoom {
  readonly redis: RedisServer;
  readonly fleet: Fleet;
  readonly mock: MockService;
  readonly #listener: MockListener;

  private constructor(redis: RedisServer, fleet: Fleet, mock: MockService, listener: MockListener) {
    this.redis = redis;
    this.fleet = fleet;
    this.mock = mock;
    this.#listener = listener;
  }

  /** A room until the end of the test. The jitter of its latency lets responses overtake one another. */
  static async open(test: TestContext): Promise<MachineRoom> {
    const rateLimits = { windows, algorithm: "sliding" } as const;
    const mock = createMockService({ rateLimits, latencyMs: [5, 80], seed: 7 });
    const [redis, fleet, listener] = await Promise.all([RedisServer.start(), Fleet.build(), mock.listen()]);
    test.onTestFinished(async () => {
      fleet.end();
      await listener.close();
      await redis.end();
    });
    return new MachineRoom(redis, fleet, mock, listener);
  }

  task(calls: number, more: Partial<Task> = {}): Task {
    const { baseUrl, apiKey } = this.#listener.clientOptions;
    return {
      client: "ioredis 5",
      redisUrl: this.redis.url,
      service: { baseUrl, apiKey },
      windows,
      store: {},
      calls,
      everyMs: 0,
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
}

/** The work of one process of a fleet. */
export interface Task {
  readonly client: ClientName;
  readonly redisUrl: string;
  readonly service: Pick<MockClientOptions, "baseUrl" | "apiKey">;
  readonly windows: readonly RateLimitWindow[];
  readonly store: RedisRateLimitStoreOptions;
  readonly calls: number;
  /** 0: all calls at once. */
  readonly everyMs: number;
}

export type WorkerMessage = "ready" | { readonly ended: string };

/** How a call of a worker ended, and when: `"responded"`, or the error's code. */
interface Ending {
  readonly worker: number;
  readonly ended: string;
  readonly atMs: number;
}

/** Child processes that start their work at the same moment. */
class Fleet {
  readonly endings: Ending[] = [];
  readonly #program: string;
  readonly #folder: string;
  readonly #children: ChildProcess[] = [];
  readonly #exits: Promise<unknown>[] = [];
  #startedAt = performance.now();

  private constructor(folder: string, program: string) {
    this.#folder = folder;
    this.#program = program;
  }

  static async build(): Promise<Fleet> {
    const folder = mkdtempSync(join(tmpdir(), "fleet-"));
    const program = join(folder, "worker.cjs");
    await bundleProgram("test/redis/worker-program.ts", program);
    return new Fleet(folder, program);
  }

  /** Starts all processes at once, when each of them is ready. */
  async start(tasks: readonly Task[]): Promise<void> {
    const first = this.#children.length;
    const ready = tasks.map((task) => this.#spawn(task));
    await Promise.all(ready);
    if (first === 0) this.#startedAt = performance.now();
    for (const child of this.#children.slice(first)) child.send("go");
  }

  kill(worker: number): void {
    this.#children[worker]?.kill("SIGKILL");
  }

  /** No process begins another call. Those under way go on. */
  stop(): void {
    for (const child of this.#children) child.send("stop");
  }

  /** Resolves once each process has done its work, or was stopped or killed. */
  async done(): Promise<void> {
    await Promise.all(this.#exits);
  }

  end(): void {
    for (const child of this.#children) child.kill("SIGKILL");
    rmSync(this.#folder, { recursive: true, force: true });
  }

  responded(worker?: number): Ending[] {
    return this.endings.filter((one) => one.ended === "responded" && (worker ?? one.worker) === one.worker);
  }

  /** A killed process has no exit code. */
  #check(worker: number, code: number | null): void {
    if (code !== 0 && code !== null) throw new Error(`worker ${worker} ended with code ${code}`);
  }

  async #spawn(task: Task): Promise<void> {
    const worker = this.#children.length;
    const child = fork(this.#program, { env: { ...process.env, FLEET_TASK: JSON.stringify(task) } });
    this.#children.push(child);
    this.#exits.push(
      new Promise<number | null>((resolve) => child.once("exit", resolve)).then((code) =>
        this.#check(worker, code),
      ),
    );
    await new Promise<void>((resolve, reject) => {
      child.on("message", (message: WorkerMessage) => {
        if (message === "ready") resolve();
        else this.endings.push({ worker, ended: message.ended, atMs: performance.now() - this.#startedAt });
      });
      child.once("exit", (code) => reject(new Error(`a worker ended with code ${code} before it was ready`)));
    });
  }
}
