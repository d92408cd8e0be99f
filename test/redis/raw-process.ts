import { randomUUID } from "node:crypto";
import type { RedisLike, RedisRateLimitStoreOptions } from "audience-sdk/redis";
import { redisScripts } from "../../src/redis/redis-client.ts";
import type {
  AcquireReply,
  PermitScripts,
  PermitState,
  ScriptReply,
  ScriptWindow,
} from "../../src/redis/script-protocol.ts";

/** A process that calls the scripts directly, in the way of the limiter. */
export class RawProcess {
  epoch: string | undefined;
  readonly #scripts: PermitScripts;
  readonly #windows: readonly ScriptWindow[];
  readonly #leaseMs: number;
  readonly #name = randomUUID();
  #made = 0;

  constructor(client: RedisLike, windows: readonly ScriptWindow[], options: RedisRateLimitStoreOptions = {}) {
    const { key = "audience-sdk:rate-limit", leaseMs = 10_000 } = options;
    this.#scripts = redisScripts(client, key);
    this.#windows = windows;
    this.#leaseMs = leaseMs;
  }

  /** Asks for permits; returns the reply and the ids of the granted permits. */
  async acquire(permits: number): Promise<AcquireReply & { ids: string[] }> {
    const ids = Array.from({ length: permits }, () => `${this.#name}:${(this.#made += 1)}`);
    const reply = await this.#scripts.acquire({ ...this.#base(), ids });
    this.epoch = reply.epoch;
    return { ...reply, ids: ids.slice(0, reply.granted) };
  }

  async release(permits: readonly PermitState[], more: object = {}): Promise<ScriptReply> {
    const reply = await this.#scripts.release({
      ...this.#base(),
      succeeded: 0,
      isReturning: false,
      permits,
      ...more,
    });
    this.epoch = reply.epoch;
    return reply;
  }

  /** Releases the permits that were responded to `agoMs` ago. */
  responded(ids: readonly string[], agoMs = 0): Promise<ScriptReply> {
    return this.release(ids.map((id) => [id, agoMs] as const));
  }

  unsent(ids: readonly string[]): Promise<ScriptReply> {
    return this.release(ids.map((id) => [id, "unsent"] as const));
  }

  #base() {
    return { process: this.#name, windows: this.#windows, epoch: this.epoch, leaseMs: this.#leaseMs };
  }
}
