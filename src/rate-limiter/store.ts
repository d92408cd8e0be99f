import type { RateLimitWindow } from "../errors.ts";
import type { AdaptiveRate } from "./adaptive-rate.ts";
import type { Estimate } from "./estimate.ts";
import type { Permit } from "./permit.ts";
import type { WindowUsage } from "./sliding-window-log.ts";

/** A count that several processes share: give a `RateLimiter` what `redisRateLimitStore` of `audience-sdk/redis` gives. */
export interface RateLimitStore {
  /** What happens while it is away: each process goes on with its share, or calls are refused. */
  readonly onUnavailable: "local" | "reject";
  /** The part of each limit that one process uses while it is away, over 0 to 1. */
  readonly localShare: number;
  /** How long the permits of a process that says nothing more are held, in milliseconds. */
  readonly leaseMs: number;
  /**
   * The permits of one limiter.
   *
   * @internal
   */
  open(limiter: StoreUser): PermitStore;
}

/** What a store is told of the limiter that uses it. */
export interface StoreUser {
  readonly windows: readonly RateLimitWindow[];
  /** What a snapshot brought: permits that still count, by the store's names for them. */
  readonly restored: readonly RestoredPermit[];
  readonly rate: AdaptiveRate;
  readonly clock: () => number;
  /** Called when a permit may have become available sooner than was said before. */
  readonly onChange: () => void;
}

/** A permit that was responded to, or that can last have arrived, at this time. */
export type RestoredPermit = readonly [id: string, respondedAt: number];

/** Where permits come from: the memory of this process, or a store that several processes share. */
export interface PermitStore {
  /** How many can be acquired right now. */
  available(now: number): number;
  /** Only where one is available. */
  acquire(now: number): Permit;
  /** So many calls wait: a shared store is asked for their permits. */
  demand(calls: number, now: number): void;
  /** When the next permit can be available at the soonest; undefined while that is being asked for. */
  nextAvailableInMs(now: number): number | undefined;
  /** Why nobody gets a permit for now, where that is so: all that wait are refused then. */
  refusal(): string | undefined;
  /** Reports that a shared store is away or back: now, and whenever it changes as long as the permit is waited for. */
  observe?(observer: AbsenceObserver, permit: Permit | Promise<Permit>): void;
  estimate(now: number): Estimate;
  /** The window that holds back the call at `position`. */
  limitingWindow(position: number, now: number): RateLimitWindow;
  usage(now: number): WindowUsage[];
  readonly inFlight: number;
  refused(now: number, retryAfterMs: number | undefined): void;
  succeeded(): void;
  /** All permits that still count, and when they were responded to: undefined while in flight. */
  entries(now: number): (readonly [id: string | undefined, respondedAt: number | undefined])[];
}

/** Told that a shared store is away, and that this process goes on without it. */
export interface AbsenceObserver {
  /** In words, and why; undefined where the store is there, or calls are refused without it. */
  limitsAlone(absence: string | undefined): void;
}
