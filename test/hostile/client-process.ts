import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ClientOptions } from "audience-sdk";
import { bundleProgram } from "../bundle-program.ts";

/** How a write ended in a client's process, and the memory and leftovers of the process. */
export interface FailedWrite {
  /** As JSON, without its body. */
  readonly error: Readonly<Record<string, unknown>>;
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

  /** Writes a contact, which is not repeatable without its opt-in. */
  async write(options: ClientOptions): Promise<FailedWrite> {
    const ended = new AbortController();
    const exit = once(this.#child, "exit", ended).then(([code]) => {
      throw new Error(`the client's process ended with ${String(code)}`);
    });
    this.#child.send(options);
    try {
      const [end] = (await Promise.race([once(this.#child, "message", ended), exit])) as [FailedWrite];
      return end;
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
