import { RateLimiter } from "./rate-limiter.ts";

const key = Symbol.for("audience-sdk.rate-limiter");

/** The one limiter of this process, shared by both module formats and all copies of the package ("Limits": per IP). */
export function defaultLimiter(): RateLimiter {
  // There a timer ends with the request that set it, so a call that waited for another request's would wait forever.
  if (isCloudflareWorkers()) return new RateLimiter();
  // Only this function writes the property, here or in another copy of the package, and always with a limiter.
  const shared = globalThis as { [key]?: RateLimiter };
  return (shared[key] ??= new RateLimiter());
}

function isCloudflareWorkers(): boolean {
  // Node 20 has no navigator.
  const { navigator } = globalThis as { navigator?: { readonly userAgent?: string } };
  return navigator?.userAgent === "Cloudflare-Workers";
}
