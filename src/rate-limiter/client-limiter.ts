import { ofRuntime } from "../runtime.ts";
import { parseOptions } from "../schema/parse-options.ts";
import { hasMethods, withoutPrototype } from "../values/predicates.ts";
import { type KeepingOptions, limiterOptionsSchema, type RateLimiterOptions } from "./limiter-options.ts";
import { joinedSnapshot } from "./limiter-snapshot.ts";
import { RateLimiter } from "./rate-limiter.ts";

const limitersKey = Symbol.for("audience-sdk.rate-limiters");

/** The limiters of the services of this process, by each origin of a service. */
type LimiterMap = Map<string, RateLimiter>;

/** Shared by both module formats and all copies of the package. */
function limitersOfProcess(): LimiterMap {
  // Only this function writes the property, here or in another copy of the package, and always with such a map.
  const shared = globalThis as { [limitersKey]?: LimiterMap };
  return (shared[limitersKey] ??= new Map());
}

/** The origins become those of one service, whose limiter counts for all: origins that share a client are one ("Limits": per IP). */
function joinService(limiters: LimiterMap, origins: readonly string[], reserve: number | undefined): void {
  const joined = new Set(origins.flatMap((origin) => limiters.get(origin) ?? []));
  const [first, ...others] = joined;
  const limiter =
    first && others.length === 0
      ? first
      : new RateLimiter({ snapshot: joinedSnapshot([...joined].map((each) => each.snapshot())) });
  const reserves = [...[...joined].map(({ ownReserve }) => ownReserve), reserve];
  // Where two reserves differ this throws, before any limiter is joined.
  for (const own of reserves) if (own !== undefined) limiter.setReserve(own);
  for (const origin of origins) limiters.set(origin, limiter);
  for (const [origin, before] of limiters) if (joined.has(before)) limiters.set(origin, limiter);
  for (const before of joined) if (before !== limiter) before.moveTo(limiter);
}

/** The limiter of a client: one of its own, none, or that of its service. */
export class ClientLimiter {
  readonly #own: RateLimiter | undefined;
  /** Set for the limiter of a service, which is another one when the service joins another. */
  readonly #limiters: LimiterMap | undefined;
  #origin: string | undefined;

  constructor(limiter: RateLimiter | "of the service" | undefined) {
    if (limiter === "of the service") this.#limiters = limitersOfProcess();
    else this.#own = limiter;
  }

  get current(): RateLimiter | undefined {
    return this.#origin === undefined ? this.#own : this.#limiters?.get(this.#origin);
  }

  /** A client, or a view of it, has these origins, and perhaps a `reserve` for its limiter. */
  join(origins: readonly string[], reserve: number | undefined): void {
    if (!this.#limiters) {
      if (reserve !== undefined) this.#own?.setReserve(reserve);
      return;
    }
    joinService(this.#limiters, [...origins, ...(this.#origin === undefined ? [] : [this.#origin])], reserve);
    this.#origin ??= origins[0];
  }
}

type LimiterOption = RateLimiter | RateLimiterOptions | false | undefined;

/** The limiter of the client's service, unless the option needs another one, or that limiter is lifted. */
export function limiterOf(option: LimiterOption, isLifted: boolean): ClientLimiter {
  if (option === false) return new ClientLimiter(undefined);
  if (option && isLimiter(option)) return new ClientLimiter(option);
  if (!keepsTheLimiter(option)) return new ClientLimiter(new RateLimiter(option));
  if (isLifted) return new ClientLimiter(undefined);
  // On Cloudflare Workers a timer ends with the request that set it, so a call that waited for another request's would wait forever.
  // Node 20 has no navigator.
  const isWorkers = ofRuntime(({ navigator }) => navigator?.userAgent) === "Cloudflare-Workers";
  return new ClientLimiter(isWorkers ? new RateLimiter() : "of the service");
}

/** The options `rateLimiter` of a client that keeps the limiter of its service. */
export function parseKept(option: LimiterOption): KeepingOptions {
  if (!keepsTheLimiter(option)) return withoutPrototype({});
  return parseOptions(limiterOptionsSchema, option ?? {}, "rateLimiter");
}

/** Whether the option only bounds the client's own calls, or sets the `reserve`, and so keeps the limiter. */
export function keepsTheLimiter(option: LimiterOption): option is KeepingOptions | undefined {
  if (option === undefined) return true;
  if (option === false || isLimiter(option)) return false;
  const given = Object.entries(option).filter(([, value]) => value !== undefined);
  return given.every(([name]) => ["maxWaitMs", "maxQueued", "reserve"].includes(name));
}

/** Known by its methods: a limiter of the CommonJS build is no instance of the ESM build's class. */
function isLimiter(option: RateLimiter | RateLimiterOptions): option is RateLimiter {
  return hasMethods(option, "acquire");
}
