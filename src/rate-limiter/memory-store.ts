import type { RateLimitWindow } from "../errors.ts";
import type { AdaptiveRate } from "./adaptive-rate.ts";
import type { Estimate } from "./estimate.ts";
import { SlidingWindowLog, type WindowUsage } from "./sliding-window-log.ts";
import type { PermitStore, ReleasePermit, StoreUser } from "./store.ts";

/** Permits counted in this process alone. */
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

  estimate(now: number, roundTripMs: number): Estimate {
    return this.#log.estimate(now, this.#rate.limits, roundTripMs, now + this.#rate.pausedMs(now));
  }

  limitingWindow(position: number, now: number): RateLimitWindow {
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
