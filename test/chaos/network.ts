import type { FetchInit } from "audience-sdk";
import type { MockService } from "audience-sdk/mock";
import type { IoredisLike } from "audience-sdk/redis";
import type { MemoryRedis } from "../redis/memory-redis.ts";
import type { Dice } from "./dice.ts";
import type { CallRecord, Departure, Log } from "./records.ts";

/** Whoever is killed sends and hears nothing more. */
export interface Mortal {
  readonly name: string;
  isDead: boolean;
}

export const callHeader = "x-call";
export const departureHeader = "x-departure";

interface Wires {
  readonly mock: MockService;
  readonly log: Log;
  readonly dice: Dice;
  readonly calls: ReadonlyMap<string, CallRecord>;
  /** The probability that a request cannot leave the machine. */
  readonly troubles: number;
}

const unsentErrors = {
  refused: "ECONNREFUSED",
  dns: "ENOTFOUND",
  tls: "DEPTH_ZERO_SELF_SIGNED_CERT",
} as const;

/** One for each wait: a promise that all worlds share would keep them in memory. */
export const never = () => new Promise<never>(() => {});

/** The `fetch` of one process, which logs each departure. */
export function networkOf({ mock, log, dice, calls, troubles }: Wires, owner: Mortal, budget: string) {
  return async (url: string, init: FetchInit): Promise<Response> => {
    if (owner.isDead) return await never();
    const { headers, body, method } = init;
    const call = calls.get(headers[callHeader] ?? "");
    const departure: Departure = {
      call,
      process: owner.name,
      budget,
      at: performance.now(),
      body: typeof body === "string" ? body : undefined,
      key: headers["x-api-key"] ?? headers["service-api-key"],
      method,
    };
    const number = String(log.departures.push(departure));
    call?.departures.push(departure);
    if (dice.chance(troubles)) {
      departure.unsent = dice.pick(["refused", "refused", "dns", "tls"]);
      departure.endedAt = departure.at;
      const code = unsentErrors[departure.unsent];
      throw new TypeError("fetch failed", { cause: Object.assign(new Error(`connect ${code}`), { code }) });
    }
    try {
      const response = await mock.fetch(url, { ...init, headers: { ...headers, [departureHeader]: number } });
      if (!owner.isDead) noteResponse(departure, response);
      return owner.isDead ? await never() : response;
    } catch (error) {
      if (owner.isDead) return await never();
      departure.endedAt = performance.now();
      throw error;
    }
  };
}

function noteResponse(departure: Departure, { status, headers }: Response): void {
  departure.endedAt = performance.now();
  departure.status = status;
  const wait = headers.get("retry-after");
  if (wait === null) return;
  departure.waitMs = /^\d+$/.test(wait) ? Number(wait) * 1_000 : Math.max(0, Date.parse(wait) - Date.now());
}

/** A client of `ioredis` whose Redis is in memory. */
export function redisOf(redis: MemoryRedis, owner: Mortal): IoredisLike {
  return {
    evalsha: () => redis.evalsha(),
    eval: async (script: string, keys: number, ...given: string[]) => {
      if (owner.isDead) return await never();
      const reply = await redis.eval(script, keys, ...given);
      return owner.isDead ? await never() : reply;
    },
  };
}
