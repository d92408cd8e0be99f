import { fork, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RateLimitWindow } from "audience-sdk";
import type { MockClientOptions } from "audience-sdk/mock";
import type { RedisRateLimitStoreOptions } from "audience-sdk/redis";
import { bundleProgram } from "../bundle-program.ts";
import type { ClientName } from "./clients.ts";

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
  readonly clockAheadMs: number;
}

export type WorkerMessage = "ready" | { readonly ended: string };

/** How a call of a worker ended, and when: `"responded"`, or the error's code. */
export interface Ending {
  readonly worker: number;
  readonly ended: string;
  readonly atMs: number;
}

/** Child processes that start their work at the same moment. */
export class Fleet {
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

  /** Resolves once each process has done its work or was killed. */
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
