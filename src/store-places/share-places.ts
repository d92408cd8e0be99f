import type { RateLimitStore } from "../rate-limiter/store.ts";
import type { PlaceStore } from "./place-store.ts";
import { SharedPlaces } from "./store-places.ts";

/** A store that counts, made what a `RateLimiter` takes. */
export function sharePlaces(store: PlaceStore): RateLimitStore {
  const { onUnavailable, localShare, leaseMs } = store;
  return { onUnavailable, localShare, leaseMs, open: (limiter) => new SharedPlaces(store, limiter) };
}
