import type { AdaptiveRate } from "./adaptive-rate.ts";
import { Allowance } from "./reserve.ts";
import type { Release, SlidingWindowLog } from "./sliding-window-log.ts";

/** A count that several processes share: give a `RateLimiter` what `redisRateLimitStore` of `audience-sdk/redis` gives. */
export interface RateLimitStore {
  /** The behaviour while it is unavailable: each process goes on with its share, or calls are refused. */
  readonly onUnavailable: "local" | "reject";
  /** The part of each limit that one process uses while it is unavailable, over 0 to 1. */
  readonly localShare: number;
  /** How long the permits of a silent process are held, in milliseconds. */
  readonly leaseMs: number;
  /** @internal The permits of one limiter. */
  open(limiter: StoreUser): PermitStore;
}

/** The limiter that uses a store. */
export interface StoreUser {
  /** The permits of this process, at first those from the limiter's snapshot. */
  readonly log: SlidingWindowLog;
  readonly rate: AdaptiveRate;
  readonly clock: () => number;
  /** The share of each window that priority 9 leaves to the others. */
  readonly reserve: () => number;
  /** A permit may be available earlier than the store has said, or the warning to users has changed. */
  readonly onChange: () => void;
}

/** The calls that wait at the head of the queue: all of priority 9, or none. */
export interface Ask {
  readonly isLast: boolean;
  /** How many calls wait, from 1. */
  readonly calls: number;
}

/** The permits for an `Ask`. */
export interface Reply {
  /** As many as there are calls at most; each is in flight from now on. */
  readonly permits: readonly Release[];
  /** Where there are fewer permits than calls: when to ask again, in milliseconds above 0; none is available before. Else 0. */
  readonly waitMs: number;
  /** Why no call gets a permit for now: all that wait are refused. */
  readonly refusal?: string | undefined;
}

/** The count as this process knows it, for usage and estimates. */
export interface Known {
  /** All permits that count, those of other processes too. Not to be changed. */
  readonly log: SlidingWindowLog;
  /** The limits in force from `startAt` on: less than those of the windows after a 429, or without a shared store. */
  readonly limits: readonly number[];
  /** When the next permit can be given at the soonest: now, or the end of a pause. */
  readonly startAt: number;
}

/** Where permits come from: the memory of this process, or a store that several processes share. */
export interface PermitStore {
  /** Permits for the calls at the head of the queue: at once where it needs to ask nobody. Never rejects. */
  take(ask: Ask, now: number): Reply | Promise<Reply>;
  known(now: number): Known;
  /** What users are told while the store is unavailable and this process goes on alone. */
  readonly warning: string | undefined;
  /** The limiter's rate has changed: the store reports it to the other processes. */
  tell(change: "refused" | "succeeded", now: number): void;
  /** Resolves when the store has all that was reported so far, or has failed. */
  settled(): Promise<void>;
}

/** The permits of this process alone. */
export function memoryStore({ log, rate, reserve, onChange }: StoreUser): PermitStore {
  return {
    take({ calls, isLast }, now) {
      const pausedMs = rate.pausedMs(now);
      if (pausedMs > 0) return { permits: [], waitMs: pausedMs };
      const allowance = new Allowance(log, rate.limits(), isLast ? reserve() : 0, now);
      return allowance.takeAll(calls, now, () => {
        const permit = log.take({ isLast, id: "" }, now);
        return (use, releasedAt) => {
          log.release(permit, use, releasedAt);
          onChange();
        };
      });
    },
    known: (now) => ({ log, limits: rate.limits(), startAt: now + rate.pausedMs(now) }),
    // There is no other process to tell, and no store that can be away.
    warning: undefined,
    tell: () => {},
    settled: async () => {},
  };
}
