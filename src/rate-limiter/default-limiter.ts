import { ofRuntime } from "../runtime.ts";
import { copyOptions, parseOptions } from "../schema/parse-options.ts";
import { hasMethods } from "../schema/predicates.ts";
import { type Bounds, boundsSchema, type RateLimiterOptions } from "./limiter-options.ts";
import { RateLimiter } from "./rate-limiter.ts";

const key = Symbol.for("audience-sdk.rate-limiter");

/** The one limiter of this process, shared by both module formats and all copies of the package ("Limits": per IP). */
function defaultLimiter(): RateLimiter {
  // On Cloudflare Workers a timer ends with the request that set it, so a call that waited for another request's would wait forever.
  // Node 20 has no navigator.
  if (ofRuntime(({ navigator }) => navigator?.userAgent) === "Cloudflare-Workers") return new RateLimiter();
  // Only this function writes the property, here or in another copy of the package, and always with a limiter.
  const shared = globalThis as { [key]?: RateLimiter };
  return (shared[key] ??= new RateLimiter());
}

type LimiterOption = RateLimiter | RateLimiterOptions | false | undefined;

/** The limiter of a client's calls; undefined if they have none. */
export interface ClientLimiter extends Bounds {
  readonly limiter: RateLimiter | undefined;
}

/** The limiter of this process, unless the option needs another one, or that limiter is lifted. */
export function parseLimiter(option: LimiterOption, isLifted: boolean): ClientLimiter {
  if (option === false) return { limiter: undefined };
  if (option && isLimiter(option)) return { limiter: option };
  if (!keepsTheLimiter(option)) return { limiter: new RateLimiter(option) };
  // Without those that are undefined: it has no others.
  const given = copyOptions<Bounds>(boundsSchema, option ?? {}, "rateLimiter");
  const bounds = parseOptions(boundsSchema, given, "rateLimiter");
  return { ...bounds, limiter: isLifted ? undefined : defaultLimiter() };
}

/** Whether the option only bounds the client's own calls, and so keeps the limiter. */
export function keepsTheLimiter(option: LimiterOption): option is Bounds | undefined {
  if (option === undefined) return true;
  if (option === false || isLimiter(option)) return false;
  const given = Object.entries(option).filter(([, value]) => value !== undefined);
  return given.every(([name]) => name in boundsSchema.shape);
}

/** Known by its methods: the limiter of the CommonJS build is not an instance of the ESM build's class. */
function isLimiter(option: RateLimiter | RateLimiterOptions): option is RateLimiter {
  return hasMethods(option, "acquire");
}
