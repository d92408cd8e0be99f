import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DOCUMENTED_WINDOWS } from "audience-sdk";
import {
  createMockService,
  type MockContactSeed,
  type MockListener,
  type MockService,
} from "audience-sdk/mock";
import { PostgresServer } from "./postgres-server.ts";

/** The part of `pg` that is used: the package stands in the recipe's folder. */
interface Database {
  query<Row>(text: string, values?: readonly unknown[]): Promise<{ rows: Row[] }>;
  end(): Promise<void>;
}

/** A change that an enqueuing process makes in one transaction; see `postgres/enqueuer.ts`. */
export interface Change {
  readonly person: string;
  readonly contact: Record<string, string | boolean>;
  readonly isForList: boolean;
  readonly eventId?: string;
  readonly isRolledBack: boolean;
}

/** The recipe for PostgreSQL, compiled in its folder: a real database, the mock over HTTP, and processes. */
export class QueueWorld {
  readonly mock: MockService;
  readonly db: Database;
  /** All that were started. */
  readonly senders: Sender[] = [];
  readonly #folder: string;
  readonly #speed: number;
  readonly #postgres: PostgresServer;
  readonly #listener: MockListener;
  readonly #enqueuers: Enqueuer[] = [];

  private constructor(
    folder: string,
    speed: number,
    parts: { db: Database; postgres: PostgresServer; mock: MockService; listener: MockListener },
  ) {
    this.#folder = folder;
    this.#speed = speed;
    this.db = parts.db;
    this.mock = parts.mock;
    this.#postgres = parts.postgres;
    this.#listener = parts.listener;
  }

  /** The windows of client and mock are `speed` times shorter than the documented ones. `contacts` are at the service. */
  static async open(folder: string, speed: number, contacts: MockContactSeed[] = []): Promise<QueueWorld> {
    const windows = DOCUMENTED_WINDOWS.map(({ limit, intervalMs }) => ({
      limit,
      intervalMs: intervalMs / speed,
    }));
    const lists = [{ id: "mock-list", name: "Newsletter" }];
    const mock = createMockService({
      rateLimits: { windows, algorithm: "sliding" },
      organizations: [{ id: "mock-organization", apiKeys: ["key"], appId: "app", lists, contacts }],
    });
    const [postgres, listener] = await Promise.all([PostgresServer.start(), mock.listen()]);
    const load = createRequire(join(folder, "package.json"));
    const { Pool } = load("pg") as { Pool: new (options: object) => Database };
    const { runMigrations } = load("graphile-worker") as {
      runMigrations: (options: object) => Promise<void>;
    };
    await runMigrations({ connectionString: postgres.url });
    const db = new Pool({ connectionString: postgres.url });
    await db.query(await readFile(join(folder, "schema.sql"), "utf8"));
    return new QueueWorld(folder, speed, { db, postgres, mock, listener });
  }

  /** The user's own table. */
  async createPeople(): Promise<void> {
    await this.db.query(
      "create table people (person text primary key, email text, city text, email_opt_in text, phone_opt_in text)",
    );
  }

  async startEnqueuers(count: number): Promise<void> {
    const children = Array.from({ length: count }, () => this.#start("out/enqueuer.js"));
    this.#enqueuers.push(...children.map((child) => new Enqueuer(child)));
    await Promise.all(children.map((child) => once(child, "message")));
  }

  /** Resolves when the change is committed or rolled back. */
  async enqueue(change: Change, by: number): Promise<void> {
    await this.#enqueuers[by % this.#enqueuers.length]!.make(change);
  }

  /** Resolves to the one sender that sends, while another waits. */
  async nextSender(): Promise<Sender> {
    const living = this.senders.filter(({ child }) => child.exitCode === null && child.signalCode === null);
    while (living.length < 2) {
      const sender = new Sender(this.#start("out/sending.js"));
      this.senders.push(sender);
      living.push(sender);
    }
    return Promise.race(living.map((sender) => sender.sends.then(() => sender)));
  }

  /** Resolves when no act and no job waits; jobs that have failed come again at once. */
  async isEmpty(): Promise<void> {
    const open = `
      select key from graphile_worker.jobs where attempts < max_attempts
      union select person from audience_people where acts <> '[]'`;
    while ((await this.db.query(open)).rows.length > 0) {
      await this.db.query(`
        select graphile_worker.reschedule_jobs(array_agg(id), run_at => now()) from graphile_worker.jobs
        where run_at > now() and locked_at is null and attempts < max_attempts`);
      await sleep(200);
    }
  }

  async close(): Promise<void> {
    for (const { child } of [...this.senders, ...this.#enqueuers]) child.kill("SIGKILL");
    await this.db.end();
    await this.#listener.close();
    await this.#postgres.end();
  }

  #start(program: string): ChildProcess {
    const { baseUrl, apiKey } = this.#listener.clientOptions;
    return fork(join(this.#folder, program), {
      cwd: this.#folder,
      silent: true,
      execArgv: [],
      env: {
        PATH: process.env["PATH"],
        DATABASE_URL: this.#postgres.url,
        AUDIENCE_BASE_URL: baseUrl,
        AUDIENCE_API_KEY: apiKey,
        AUDIENCE_RATE_LIMIT: `${this.#speed}x`,
      },
    });
  }
}

class Enqueuer {
  readonly child: ChildProcess;
  readonly #waiting = new Map<number, () => void>();
  #made = 0;

  constructor(child: ChildProcess) {
    this.child = child;
    child.on("message", (number) => this.#waiting.get(Number(number))?.());
  }

  make(change: Change): Promise<void> {
    const number = (this.#made += 1);
    return new Promise((resolve) => {
      this.#waiting.set(number, resolve);
      this.child.send({ ...change, number });
    });
  }
}

export class Sender {
  readonly child: ChildProcess;
  /** Resolves when it has become the one that sends. */
  readonly sends: Promise<unknown>;
  /** What its runs of `bulk` came to. */
  readonly runs: { readonly summary?: Record<string, number>; readonly error?: string }[] = [];
  readonly #printed: string[] = [];

  constructor(child: ChildProcess) {
    this.child = child;
    this.sends = new Promise((resolve, reject) => {
      child.once("message", resolve);
      child.once("exit", () => reject(new Error(`a sender has ended: ${this.printed()}`)));
    });
    this.sends.catch(() => {}); // where nobody waits for it any more
    for (const stream of [child.stdout, child.stderr])
      stream?.on("data", (text) => this.#printed.push(String(text)));
    child.on("message", (message) => {
      if (typeof message === "object") this.runs.push(message);
    });
  }

  /** Its name in the requests. */
  get name(): string {
    return `${this.child.pid}`;
  }

  printed(): string {
    return this.#printed.join("");
  }

  sendProfiles(): void {
    this.child.send("profiles");
  }

  /** Its exit code, or the signal that ended it. */
  async end(signal: "SIGTERM" | "SIGKILL"): Promise<unknown> {
    const ended = once(this.child, "exit");
    this.child.kill(signal);
    const [exitCode, by] = (await ended) as [number | null, string | null];
    return exitCode ?? by;
  }
}
