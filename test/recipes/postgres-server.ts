import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../redis/redis-server.ts";

// Debian keeps the programs of each version apart.
const debian = "/usr/lib/postgresql";
const versions = existsSync(debian) ? readdirSync(debian).toSorted((a, b) => Number(b) - Number(a)) : [];
const folders = ["", ...versions.map((version) => join(debian, version, "bin/"))];
const bin = folders.find((folder) => spawnSync(`${folder}postgres`, ["--version"]).status === 0);

/** Whether this machine has a `postgres`. */
export const hasPostgres = bin !== undefined;

/** PostgreSQL refuses to run as root: there it runs as the user of its package. */
function owner(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const idOf = (which: string): number =>
    Number(execFileSync("id", [which, "postgres"], { encoding: "utf8" }));
  return { uid: idOf("-u"), gid: idOf("-g") };
}

/** A real PostgreSQL on a free loopback port, with its own folder. It is ended by its process id. */
export class PostgresServer {
  readonly url: string;
  readonly #folder: string;
  readonly #child: ChildProcess;

  private constructor(url: string, folder: string, child: ChildProcess) {
    this.url = url;
    this.#folder = folder;
    this.#child = child;
  }

  static async start(): Promise<PostgresServer> {
    const folder = mkdtempSync(join(tmpdir(), "postgres-"));
    const user = owner();
    if (user) chownSync(folder, user.uid, user.gid);
    const options = { cwd: folder, stdio: "ignore", ...user } as const;
    const init = spawnSync(
      `${bin}initdb`,
      ["-D", "data", "-A", "trust", "-U", "postgres", "--no-sync"],
      options,
    );
    if (init.status !== 0) throw new Error(`initdb ended with ${init.status}`);
    const port = await freePort();
    const settings = [
      "fsync=off",
      "listen_addresses=127.0.0.1",
      `port=${port}`,
      `unix_socket_directories=${folder}`,
    ];
    const child = spawn(
      `${bin}postgres`,
      ["-D", "data", ...settings.flatMap((setting) => ["-c", setting])],
      options,
    );
    const server = new PostgresServer(`postgres://postgres@127.0.0.1:${port}/postgres`, folder, child);
    const isReady = (): boolean =>
      spawnSync(`${bin}pg_isready`, ["-q", "-h", "127.0.0.1", "-p", `${port}`]).status === 0;
    for (let attempt = 0; attempt < 200 && child.exitCode === null; attempt += 1) {
      if (isReady()) return server;
      await sleep(50);
    }
    await server.end();
    throw new Error("postgres does not accept connections");
  }

  /** Ends the server at once, and removes its folder. */
  async end(): Promise<void> {
    const ended = this.#child.exitCode === null ? once(this.#child, "exit") : undefined;
    this.#child.kill("SIGQUIT");
    await ended;
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
