import type { RateLimitWindow } from "../errors.ts";
import { limitsInForce, type AdaptiveRate } from "./adaptive-rate.ts";
import { MeanRoundTrip, type Estimate } from "./estimate.ts";
import { countsFrom, createPermit, type Permit, type PermitUse } from "./permit.ts";
import { SlidingWindowLog, type WindowUsage } from "./sliding-window-log.ts";
import type { PermitStore, StoreUser } from "./store.ts";

// An estimate takes a few steps for each waiting call, so 10,000 calls that come at once share one.
const estimateHoldsMs = 5;

/** Permits counted in this process alone. */
export class MemoryStore implements PermitStore {
  readonly #windows: readonly RateLimitWindow[];
  readonly #log: SlidingWindowLog;
  readonly #rate: AdaptiveRate;
  readonly #clock: () => number;
  readonly #onChange: () => void;
  readonly #roundTrip = new MeanRoundTrip();
  #estimate: { value: Estimate; madeAt: number } | undefined;

  constructor({ windows, restored, rate, clock, onChange }: StoreUser) {
    this.#windows = windows;
    this.#log = new SlidingWindowLog(
      windows,
      restored.map(([, respondedAt]) => respondedAt),
    );
    this.#rate = rate;
    this.#clock = clock;
    this.#onChange = onChange;
    this.#log.limits = limitsInForce(windows, rate.factor);
  }

  available(now: number): number {
    return this.#rate.pausedMs(now) > 0 ? 0 : this.#log.available(now);
  }

  acquire(now: number): Permit {
    this.#log.acquire();
    this.#estimate = undefined;
    return createPermit((use) => this.#release(use, now));
  }

  demand(): void {}

  nextAvailableInMs(now: number): number {
    return Math.max(this.#rate.pausedMs(now), this.#log.nextAvailableInMs(now));
  }

  refusal(): undefined {}

  estimate(now: number): Estimate {
    if (!this.#estimate || now > this.#estimate.madeAt + estimateHoldsMs) {
      const startAt = now + this.#rate.pausedMs(now);
      this.#estimate = { value: this.#log.estimate(now, this.#roundTrip.ms, startAt), madeAt: now };
    }
    return this.#estimate.value;
  }

  limitingWindow(position: number, now: number): RateLimitWindow {
    return this.#log.limitingWindow(position, now);
  }

  usage(now: number): WindowUsage[] {
    return this.#log.usage(now);
  }

  get inFlight(): number {
    return this.#log.inFlight;
  }

  refused(now: number, retryAfterMs: number | undefined): void {
    this.#rate.refused(now, retryAfterMs);
    this.#rateChanged();
  }

  succeeded(): void {
    if (this.#rate.factor === 1) return;
    this.#rate.succeeded();
    this.#rateChanged();
  }

  entries(now: number): [id: undefined, respondedAt: number | undefined][] {
    const inFlight = Array<undefined>(this.inFlight).fill(undefined);
    return [...this.#log.responses(now), ...inFlight].map((respondedAt) => [undefined, respondedAt]);
  }

  #release(use: PermitUse, acquiredAt: number): void {
    const now = this.#clock();
    if (use === "unsent") this.#log.unsent();
    else this.#log.responded(countsFrom(use, now));
    if (use === "responded") this.#roundTrip.add(now - acquiredAt);
    this.#changed();
  }

  #rateChanged(): void {
    this.#log.limits = limitsInForce(this.#windows, this.#rate.factor);
    this.#changed();
  }

  #changed(): void {
    this.#estimate = undefined;
    this.#onChange();
  }
}
