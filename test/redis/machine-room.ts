import { fork, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RateLimitWindow } from "audience-sdk";
import { createMockService, type MockClientOptions, type MockService } from "audience-sdk/mock";
import type { RedisRateLimitStoreOptions } from "audience-sdk/redis";
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

/** The work of one process. */
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

/** A real Redis, the mock with the documented rate limit over HTTP, and processes that call it; all end with the test. */
export class MachineRoom {
  readonly redis: RedisServer;
  /** How the calls of each process ended: `"responded"`, or the error's code. */
  readonly endings: string[][] = [];
  readonly #mock: MockService;
  readonly #service: Task["service"];
  readonly #program: string;
  readonly #children: ChildProcess[] = [];
  readonly #exits: Promise<void>[] = [];

  private constructor(redis: RedisServer, mock: MockService, service: Task["service"], program: string) {
    this.redis = redis;
    this.#mock = mock;
    this.#service = service;
    this.#program = program;
  }

  static async open(test: TestContext): Promise<MachineRoom> {
    const folder = mkdtempSync(join(tmpdir(), "fleet-"));
    const program = join(folder, "worker.cjs");
    const rateLimits = { windows, algorithm: "sliding" } as const;
    // The jitter lets responses overtake one another.
    const mock = createMockService({ rateLimits, latencyMs: [5, 80], seed: 7 });
    const [redis, { clientOptions, close }] = await Promise.all([
      RedisServer.start(),
      mock.listen(),
      bundleProgram("test/redis/worker-program.ts", program),
    ]);
    const { baseUrl, apiKey } = clientOptions;
    const room = new MachineRoom(redis, mock, { baseUrl, apiKey }, program);
    test.onTestFinished(async () => {
      for (const worker of room.#children.keys()) room.kill(worker);
      rmSync(folder, { recursive: true, force: true });
      await close();
      await redis.end();
    });
    return room;
  }

  /** How many calls the service refused. */
  get refused(): number {
    return this.#mock.requests.filter(({ status }) => status === 429).length;
  }

  /** How many calls of a process had a response. */
  responded(worker: number): number {
    return this.endings[worker]!.filter((ended) => ended === "responded").length;
  }

  /** Starts a process for each client, with the same task, and lets them begin at the same moment. */
  async start(clients: readonly ClientName[], task: Pick<Task, "calls"> & Partial<Task>): Promise<void> {
    const first = this.#children.length;
    await Promise.all(clients.map((client) => this.#spawn({ client, ...task })));
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

  async #spawn(given: Partial<Task>): Promise<void> {
    const common = { redisUrl: this.redis.url, service: this.#service, windows, store: {}, everyMs: 0 };
    const env = { ...process.env, FLEET_TASK: JSON.stringify({ ...common, ...given }) };
    const child = fork(this.#program, { env });
    const endings: string[] = [];
    this.#children.push(child);
    this.endings.push(endings);
    const exit = new Promise<number | null>((resolve) => child.once("exit", resolve)).then((code) => {
      // A killed process has no exit code.
      if (code !== 0 && code !== null) throw new Error(`a worker ended with code ${code}`);
    });
    this.#exits.push(exit);
    const ready = new Promise<void>((resolve) => {
      child.on("message", (message: WorkerMessage) => {
        if (message === "ready") resolve();
        else endings.push(message.ended);
      });
    });
    await Promise.race([ready, exit]);
  }
}
