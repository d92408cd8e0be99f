import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ClientOptions } from "audience-sdk";
import { bundleProgram } from "../bundle-program.ts";

/** The calls that a client's process can make. */
export type CallName = "read" | "write" | "event" | "list";

export interface ClientRequest {
  readonly call: CallName;
  readonly options: ClientOptions;
}

/** The outcome of one call, and the memory and leftovers of its process. */
export interface ClientResult {
  /** The error as JSON, or the value. */
  readonly error?: Readonly<Record<string, unknown>>;
  readonly value?: unknown;
  /** The peak memory of the process, in MB. */
  readonly highestMb: number;
  /** Unhandled rejections. */
  readonly unhandled: readonly string[];
}

/** A separate process for a client: the server's memory does not count, and a crash does not end the test run. */
export class ClientProcess {
  /** The memory after loading the client, in MB. */
  readonly atFirstMb: number;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, atFirstMb: number) {
    this.#child = child;
    this.atFirstMb = atFirstMb;
  }

  static async start(): Promise<ClientProcess> {
    const folder = await mkdtemp(join(tmpdir(), "audience-sdk-client-"));
    const program = join(folder, "client.mjs");
    await bundleProgram("test/hostile/client-program.ts", program);
    const child = fork(program, { execArgv: [] });
    const [atFirstMb] = (await once(child, "message")) as [number];
    // It is loaded.
    await rm(folder, { recursive: true });
    return new ClientProcess(child, atFirstMb);
  }

  async runInProcess(question: ClientRequest): Promise<ClientResult> {
    const ended = new AbortController();
    const exit = once(this.#child, "exit", ended).then(([code]) => {
      throw new Error(`the client's process ended with ${String(code)}`);
    });
    this.#child.send(question);
    try {
      const [ending] = (await Promise.race([once(this.#child, "message", ended), exit])) as [ClientResult];
      return ending;
    } finally {
      exit.catch(() => undefined);
      ended.abort();
    }
  }

  /** Waits for it to exit, which a leaked socket, timer or handle would prevent. Returns its exit code. */
  async end(): Promise<unknown> {
    const exit = once(this.#child, "exit");
    this.#child.disconnect();
    return (await exit)[0];
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }
}
