import { ofRuntime } from "../runtime.ts";
import { parseOptions } from "../schema/parse-options.ts";
import { hasMethods, withoutPrototype } from "../values/predicates.ts";
import { type KeepingOptions, limiterOptionsSchema, type RateLimiterOptions } from "./limiter-options.ts";
import { joinedSnapshot } from "./limiter-snapshot.ts";
import { RateLimiter } from "./rate-limiter.ts";

const key = Symbol.for("audience-sdk.rate-limiters");

/** The limiters of the services of this process, by each of their origins. */
type Services = Map<string, RateLimiter>;

/** Shared by both module formats and all copies of the package. */
function servicesOfProcess(): Services {
  // Only this function writes the property, here or in another copy of the package, and always with such a map.
  const shared = globalThis as { [key]?: Services };
  return (shared[key] ??= new Map());
}

/** The origins become those of one service, whose limiter counts for all: origins that share a client are one ("Limits": per IP). */
function joinService(services: Services, origins: readonly string[], reserve: number | undefined): void {
  const joined = new Set(origins.flatMap((origin) => services.get(origin) ?? []));
  const [first, ...others] = joined;
  const limiter =
    first && others.length === 0
      ? first
      : new RateLimiter({ snapshot: joinedSnapshot([...joined].map((each) => each.snapshot())) });
  const reserves = [...[...joined].map(({ ownReserve }) => ownReserve), reserve];
  // Where two of them differ it throws, before anything is joined.
  for (const own of reserves) if (own !== undefined) limiter.setReserve(own);
  for (const origin of origins) services.set(origin, limiter);
  for (const [origin, before] of services) if (joined.has(before)) services.set(origin, limiter);
  for (const before of joined) if (before !== limiter) before.moveTo(limiter);
}

/** The limiter of a client: one of its own, none, or that of its service. */
export class ClientLimiter {
  readonly #own: RateLimiter | undefined;
  /** Set for the limiter of a service: it is another one when the service joins another. */
  readonly #services: Services | undefined;
  #origin: string | undefined;

  constructor(limiter: RateLimiter | "of the service" | undefined) {
    if (limiter === "of the service") this.#services = servicesOfProcess();
    else this.#own = limiter;
  }

  get current(): RateLimiter | undefined {
    return this.#origin === undefined ? this.#own : this.#services?.get(this.#origin);
  }

  /** A client, or a view of it, has these origins, and perhaps a `reserve` for its limiter. */
  join(origins: readonly string[], reserve: number | undefined): void {
    if (!this.#services) {
      if (reserve !== undefined) this.#own?.setReserve(reserve);
      return;
    }
    joinService(this.#services, [...origins, ...(this.#origin === undefined ? [] : [this.#origin])], reserve);
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

/** What the option says of the limiter that the client keeps. */
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

/** Known by its methods: the limiter of the CommonJS build is not an instance of the ESM build's class. */
function isLimiter(option: RateLimiter | RateLimiterOptions): option is RateLimiter {
  return hasMethods(option, "acquire");
}
