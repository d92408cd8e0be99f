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

export type ReleasePermit = (use: PermitUse, now: number) => void;

/** Where permits come from: the memory of this process, or a store that several processes share. */
export interface PermitStore {
  readonly inFlight: number;
  acquire(now: number): ReleasePermit | undefined;
  /** When the next permit can be available at the soonest; undefined while that is being asked for. */
  nextAvailableInMs(now: number): number | undefined;
  /** When the call at `position` (1 is the next) gets its response, if each call takes `roundTripMs`. */
  respondedAt(position: number, now: number, roundTripMs: number): number;
  /** The window that holds back the call at `position`; undefined if only a pause does. */
  limitingWindow(position: number, now: number): RateLimitWindow | undefined;
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

export class MemoryStore implements PermitStore {
  readonly #log: SlidingWindowLog;
  readonly #rate: AdaptiveRate;

  constructor({ windows, restored, rate }: StoreUser) {
    const responses = restored.map(([, respondedAt]) => respondedAt);
    this.#log = new SlidingWindowLog(windows, responses);
    this.#rate = rate;
  }

  get inFlight(): number {
    return this.#log.inFlight;
  }

  acquire(now: number): ReleasePermit | undefined {
    if (this.#rate.pausedMs(now) > 0 || this.#log.available(now, this.#rate.limits) === 0) return undefined;
    this.#log.inFlight += 1;
    return (use, releasedAt) => this.#log.release(use, releasedAt);
  }

  nextAvailableInMs(now: number): number {
    return Math.max(this.#rate.pausedMs(now), ...this.#log.availableInMs(now, this.#rate.limits));
  }

  respondedAt(position: number, now: number, roundTripMs: number): number {
    const startAt = now + this.#rate.pausedMs(now);
    return this.#log.respondedAt(position, now, { limits: this.#rate.limits, roundTripMs, startAt });
  }

  limitingWindow(position: number, now: number): RateLimitWindow | undefined {
    return this.#log.limitingWindow(position, now, this.#rate.limits);
  }

  usage(now: number): WindowUsage[] {
    return this.#log.usage(now, this.#rate.limits);
  }

  entries(now: number): [id: undefined, respondedAt: number | undefined][] {
    const inFlight = Array<undefined>(this.inFlight).fill(undefined);
    return [...this.#log.responses(now), ...inFlight].map((respondedAt) => [undefined, respondedAt]);
  }
}
