import type { RateLimitWindow } from "../errors.ts";
import type { AdaptiveRate } from "./adaptive-rate.ts";
import type { Estimate } from "./estimate.ts";
import type { Permit } from "./permit.ts";
import type { WindowUsage } from "./sliding-window-log.ts";

/** A count that several processes share: give a `RateLimiter` what `redisRateLimitStore` of `audience-sdk/redis` gives. */
export interface RateLimitStore {
  /** The behaviour while it is unavailable: each process goes on with its share, or calls are refused. */
  readonly onUnavailable: "local" | "reject";
  /** The part of each limit that one process uses while it is unavailable, over 0 to 1. */
  readonly localShare: number;
  /** How long the permits of a silent process are held, in milliseconds. */
  readonly leaseMs: number;
  /**
   * The permits of one limiter.
   *
   * @internal
   */
  open(limiter: StoreUser): PermitStore;
}

/** The limiter that uses a store. */
export interface StoreUser {
  readonly windows: readonly RateLimitWindow[];
  /** Permits from a snapshot that still count, by their ids in the store. */
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
  /** The reason for which no permit is given for now, if there is one: then all waiting calls are refused. */
  refusal(): string | undefined;
  /** Reports whether a shared store is available: now, and at each change while the permit is waited for. */
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

/** Notified that a shared store is unavailable, and that this process goes on without it. */
export interface AbsenceObserver {
  /** The message with the reason; undefined if the store is available, or calls are refused without it. */
  limitsAlone(absence: string | undefined): void;
}
