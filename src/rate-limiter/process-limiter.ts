import { RateLimiter } from "./rate-limiter.ts";

const key = Symbol.for("audience-sdk.rate-limiter");

/** The one limiter of this process, shared by both module formats and all copies of the package ("Limits": per IP). */
export function processLimiter(): RateLimiter {
  // Only this function writes the property, here or in another copy of the package, and always with a limiter.
  const shared = globalThis as { [key]?: RateLimiter };
  return (shared[key] ??= new RateLimiter());
}
