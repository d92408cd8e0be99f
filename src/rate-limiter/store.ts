import type { RateLimitWindow } from "../errors.ts";
import type { AdaptiveRate } from "./adaptive-rate.ts";
import { type PermitUse, SlidingWindowLog, type WindowUsage } from "./sliding-window-log.ts";

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

export interface StoreUser {
  readonly windows: readonly RateLimitWindow[];
  /** Permits from a snapshot that still count, by their ids in the store. */
  readonly restored: readonly RestoredPermit[];
  readonly rate: AdaptiveRate;
  readonly clock: () => number;
  readonly onChange: () => void;
}

/** A permit that was responded to, or that can last have arrived, at this time. */
export type RestoredPermit = readonly [id: string, respondedAt: number];

/** Where permits come from: the memory of this process, or a store that several processes share. */
export interface PermitStore {
  readonly inFlight: number;
  acquire(now: number): ((use: PermitUse, now: number) => void) | undefined;
  /** When the next permit can be available at the soonest; undefined while that is being asked for. */
  nextAvailableInMs(now: number): number | undefined;
  /** The facts for estimates: the count as it is known, the limits at a time, and when the next call can leave. */
  known(now: number): {
    readonly log: SlidingWindowLog;
    readonly limitsAt: (time: number) => readonly number[];
    readonly startAt: number;
  };
  usage(now: number): WindowUsage[];
  /** All permits that still count, and when they were responded to: undefined while in flight. */
  entries(now: number): (readonly [id: string | undefined, respondedAt: number | undefined])[];
  /** So many calls wait: a shared store is asked for their permits. */
  demand?(calls: number, now: number): void;
  /** A 429 came, which a shared store reports to the other processes. */
  refused?(now: number): void;
  succeeded?(): void;
  /** The reason for which no permit is given for now, if there is one: then all waiting calls are refused. */
  refusal?(): string | undefined;
  /** Resolves when a shared store has all that was reported so far, or has failed. */
  settled?(): Promise<void>;
  /** The warning while a shared store is unavailable and this process goes on without it. */
  warning?(): string | undefined;
}

export function memoryStore({ windows, restored, rate }: StoreUser): PermitStore {
  const responses = restored.map(([, respondedAt]) => respondedAt);
  const log = new SlidingWindowLog(windows, responses);
  return {
    get inFlight() {
      return log.inFlight;
    },
    acquire(now) {
      if (rate.pausedMs(now) > 0 || log.available(now, rate.limits) === 0) return undefined;
      log.inFlight += 1;
      return (use, releasedAt) => log.release(use, releasedAt);
    },
    nextAvailableInMs: (now) => Math.max(rate.pausedMs(now), ...log.availableInMs(now, rate.limits)),
    known: (now) => ({ log, limitsAt: () => rate.limits, startAt: now + rate.pausedMs(now) }),
    usage: (now) => log.usage(now, rate.limits),
    entries: (now) =>
      [...log.responses(now), ...Array<undefined>(log.inFlight)].map((respondedAt) => [
        undefined,
        respondedAt,
      ]),
  };
}
