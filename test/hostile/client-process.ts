import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { ClientOptions } from "audience-sdk";

/** The calls that a client's process knows. */
export type CallName = "read" | "write" | "event" | "list";

export interface ClientRequest {
  readonly call: CallName;
  readonly options: ClientOptions;
}

/** How one call ended, and what its process has held and left behind. */
export interface ClientResult {
  /** The error as JSON, or the value. */
  readonly error?: Readonly<Record<string, unknown>>;
  readonly value?: unknown;
  readonly tookMs: number;
  /** The most memory that the process ever had, in MB. */
  readonly highestMb: number;
  /** What was rejected, and nobody heard. */
  readonly unhandled: readonly string[];
}

const program = fileURLToPath(new URL("client-program.ts", import.meta.url));

/** A process of its own for a client: what the server holds does not count, and a client that crashes ends no test run. */
export class ClientProcess {
  /** What it took to load the client, in MB. */
  readonly atFirstMb: number;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, atFirstMb: number) {
    this.#child = child;
    this.atFirstMb = atFirstMb;
  }

  static async start(): Promise<ClientProcess> {
    const child = fork(program, { execArgv: ["--import", "tsx"] });
    const [atFirstMb] = (await once(child, "message")) as [number];
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

  /** Lets it end by itself, which a socket, a timer or a handle that is left would keep it from. Gives its exit code. */
  async end(): Promise<unknown> {
    const exit = once(this.#child, "exit");
    this.#child.disconnect();
    return (await exit)[0];
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }
}
