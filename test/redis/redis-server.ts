import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** Whether this machine has a `redis-server`. */
export const hasRedis = spawnSync("redis-server", ["--version"]).status === 0;

/** A real Redis on a free loopback port, with its own folder. It is ended by its process id. */
export class RedisServer {
  readonly port: number;
  readonly #folder = mkdtempSync(join(tmpdir(), "redis-"));
  readonly #more: readonly string[];
  #child: ChildProcess | undefined;

  private constructor(port: number, more: readonly string[]) {
    this.port = port;
    this.#more = more;
  }

  static async start(...more: string[]): Promise<RedisServer> {
    const server = new RedisServer(await freePort(), more);
    await server.start();
    return server;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Starts the server, also after it was killed. It is empty then, unless an option in `more` keeps a file. */
  async start(): Promise<void> {
    const options = ["--port", `${this.port}`, "--bind", "127.0.0.1", "--dir", this.#folder, "--save", ""];
    const child = spawn("redis-server", [...options, ...this.#more], { stdio: "ignore" });
    this.#child = child;
    for (let attempt = 0; attempt < 200; attempt += 1) {
      if (await respondsToPing(this.port)) return;
      if (child.exitCode !== null) break;
      await sleep(25);
    }
    throw new Error(`redis-server does not answer on port ${this.port}`);
  }

  async kill(signal: "SIGTERM" | "SIGKILL" = "SIGKILL"): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill(signal);
    await ended;
  }

  /** Ends the server and removes its folder. */
  async end(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

let lastPort = Math.floor(Math.random() * 12_000);

/**
 * A free port of loopback, below those that the system gives to who asks for any, and none that was given before: another
 * server would get it meanwhile, and be taken for this one.
 */
export async function freePort(): Promise<number> {
  lastPort = (lastPort + 1) % 12_000;
  const port = 20_000 + lastPort;
  await using server = createServer().listen(port, "127.0.0.1");
  const isFree = once(server, "listening").then(() => true);
  return (await isFree.catch(() => false)) ? port : await freePort();
}

function respondsToPing(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => socket.write("PING\r\n"));
    const finish = (isUp: boolean): void => {
      socket.destroy();
      resolve(isUp);
    };
    socket.once("data", (data) => finish(data.toString().startsWith("+PONG")));
    socket.once("error", () => finish(false));
  });
}
