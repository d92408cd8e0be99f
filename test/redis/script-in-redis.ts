// It reaches into `src` for the script that runs in Redis: what it replies is a promise between processes of several versions,
// and a limiter before it would hide which of its rules has failed.
import { randomUUID } from "node:crypto";
import type { IoredisLike, RedisLike, RedisRateLimitStoreOptions } from "audience-sdk/redis";
import type { Redis } from "ioredis";
import type { RunScript, ScriptReply, ScriptRequest, WrittenPermit } from "../../src/redis/permit-report.ts";
import { scriptOf } from "../../src/redis/redis-client.ts";

export type { ScriptReply, ScriptRequest, WrittenPermit };

/** A process that runs the script directly, in the way of the store. */
export class RawProcess {
  readonly #run: RunScript;
  readonly #base: Pick<ScriptRequest, "windows" | "leaseMs">;
  readonly #name = randomUUID();
  #made = 0;

  constructor(
    client: RedisLike,
    windows: ScriptRequest["windows"],
    { key = "audience-sdk:rate-limit", leaseMs = 10_000 }: RedisRateLimitStoreOptions = {},
  ) {
    this.#run = scriptOf(client, key);
    this.#base = { windows, leaseMs };
  }

  /** Asks for permits; returns the reply and the ids of the granted ones. */
  async ask(
    permits: number,
    { isLast = false, reserve = 0 } = {},
  ): Promise<ScriptReply & { readonly ids: string[] }> {
    const ids = Array.from({ length: permits }, () => `${this.#name}:${(this.#made += 1)}`);
    const reply = await this.request({ ids, isLast, reserve });
    return { ...reply, ids: ids.slice(0, reply.granted) };
  }

  write(permits: readonly WrittenPermit[]): Promise<ScriptReply> {
    return this.request({ permits });
  }

  /** Writes permits of priorities 0 to 8 that were responded to `agoMs` ago. */
  responded(ids: readonly string[], agoMs = 0): Promise<ScriptReply> {
    return this.write(ids.map((id) => [id, false, agoMs] as const));
  }

  unsent(ids: readonly string[]): Promise<ScriptReply> {
    return this.write(ids.map((id) => [id, false, "unsent"] as const));
  }

  async request(more: Partial<ScriptRequest>): Promise<ScriptReply> {
    const nothing = { permits: [], succeeded: 0, process: this.#name, ids: [], isLast: false, reserve: 0 };
    return await this.#run({ ...this.#base, ...nothing, ...more });
  }
}

const readsTheTime = "redis.call('TIME')";
// Each command has a later time than the one before, also in the JSON of Redis, which keeps a tenth of a millisecond.
const usualMs = 0.2;

/** A Redis whose scripts read a clock that the test sets, so that no result depends on the speed of the machine. */
export class SetClock {
  #nowUs = 1_700_000_000_000_000;
  readonly client: IoredisLike;

  constructor(redis: Redis, commandTakesMs = usualMs) {
    const timed = (script: string): string => {
      if (!script.includes(readsTheTime)) throw new Error("a script that does not read the time");
      return script.replace(readsTheTime, "{ ARGV[2], ARGV[3] }");
    };
    const time = (): string[] => {
      this.#nowUs += commandTakesMs * 1_000;
      return [`${Math.floor(this.#nowUs / 1_000_000)}`, `${this.#nowUs % 1_000_000}`];
    };
    this.client = {
      evalsha: async () => undefined,
      eval: (script, keyCount, ...rest) => redis.eval(timed(script), keyCount, ...rest, ...time()),
    };
  }

  get nowMs(): number {
    return this.#nowUs / 1_000;
  }

  /** Below 0 the clock is set back. */
  advance(ms: number): void {
    this.#nowUs += Math.ceil(ms * 1_000);
  }
}
