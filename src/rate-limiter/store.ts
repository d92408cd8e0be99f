import type { RateLimitWindow } from "../errors.ts";
import type { Places } from "./places.ts";
import type { SlowDown } from "./slow-down.ts";

/** A count that several processes share: give a `RateLimiter` what `redisRateLimitStore` of `audience-sdk/redis` gives. */
export interface RateLimitStore {
  /** What happens while it is away: each process goes on with its share, or calls are refused. */
  readonly onUnavailable: "local" | "reject";
  /** The part of each limit that one process uses while it is away, over 0 to 1. */
  readonly localShare: number;
  /** How long the places of a process that says nothing more are held, in milliseconds. */
  readonly leaseMs: number;
  /**
   * The places of one limiter. The store brings along how they are taken, so that a client without one does not carry it.
   *
   * @internal
   */
  open(limiter: StoreUser): Places;
}

/** What a store's places are told of the limiter that uses them. */
export interface StoreUser {
  readonly windows: readonly RateLimitWindow[];
  /** What a snapshot brought: calls that still count, by the store's names for them. */
  readonly restored: readonly (readonly [id: string, answeredAt: number])[];
  readonly slowDown: SlowDown;
  readonly clock: () => number;
  /** Called when a place may have come free sooner than told before. */
  readonly onChange: () => void;
}
