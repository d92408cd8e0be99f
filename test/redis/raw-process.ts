import { randomUUID } from "node:crypto";
import type { RedisLike, RedisRateLimitStoreOptions } from "audience-sdk/redis";
import {
  parseReply,
  type ScriptReply,
  type ScriptRequest,
  type WrittenPermit,
} from "../../src/redis/permit-script.ts";
import { type RunScript, scriptOf } from "../../src/redis/redis-client.ts";

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
    const nothing = { permits: [], succeeded: 0, ids: [], isLast: false, reserve: 0 };
    const request = { ...this.#base, ...nothing, ...more };
    return parseReply(await this.#run(request), request)!; // a reply of the script
  }
}
