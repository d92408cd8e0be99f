import type { RateLimitWindow } from "../errors.ts";
import type { Forecast } from "./forecast.ts";
import { createPermit, type Permit, type PermitEnd } from "./permit.ts";
import type { Places, WindowUsage } from "./places.ts";
import { RoundTrip } from "./round-trip.ts";
import type { SlowDown } from "./slow-down.ts";
import type { Windows } from "./windows.ts";

interface LocalPlacesOptions {
  readonly windows: Windows;
  readonly slowDown: SlowDown;
  readonly clock: () => number;
  /** Called when a place may have come free sooner than told before. */
  readonly onChange: () => void;
}

// A forecast takes a few steps per call that waits: made anew for each of 10,000 that come at once, it would be felt.
const forecastHoldsMs = 5;

/** Places counted in this process alone. */
export class LocalPlaces implements Places {
  readonly #windows: Windows;
  readonly #slowDown: SlowDown;
  readonly #clock: () => number;
  readonly #onChange: () => void;
  readonly #roundTrip = new RoundTrip();
  #forecast: { forecast: Forecast; madeAt: number } | undefined;

  constructor({ windows, slowDown, clock, onChange }: LocalPlacesOptions) {
    this.#windows = windows;
    this.#slowDown = slowDown;
    this.#clock = clock;
    this.#onChange = onChange;
    windows.shrink(slowDown.share);
  }

  free(now: number): number {
    return this.#slowDown.pausedMs(now) > 0 ? 0 : this.#windows.free(now);
  }

  take(now: number): Permit {
    this.#windows.take();
    this.#forecast = undefined;
    return createPermit((end) => this.#end(end, now));
  }

  want(): void {}

  etaMs(now: number): number {
    return Math.max(this.#slowDown.pausedMs(now), this.#windows.eta(1, now));
  }

  refusal(): undefined {}

  forecast(now: number): Forecast {
    if (!this.#forecast || now > this.#forecast.madeAt + forecastHoldsMs) {
      const forecast = this.#windows.forecast(now, this.#roundTrip.meanMs, this.#slowDown.pausedMs(now));
      this.#forecast = { forecast, madeAt: now };
    }
    return this.#forecast.forecast;
  }

  heldBackBy(place: number, now: number): RateLimitWindow {
    return this.#windows.fullest(place, now);
  }

  windows(now: number): WindowUsage[] {
    return this.#windows.usage(now);
  }

  get inFlight(): number {
    return this.#windows.inFlight;
  }

  refused(now: number, retryAfterMs: number | undefined): void {
    this.#slowDown.refused(now, retryAfterMs);
    this.#windows.shrink(this.#slowDown.share);
    this.#changed();
  }

  succeeded(): void {
    if (this.#slowDown.share === 1) return;
    this.#slowDown.succeeded();
    this.#windows.shrink(this.#slowDown.share);
    this.#changed();
  }

  entries(now: number): [id: undefined, answeredAt: number | undefined][] {
    const inFlight = Array.from({ length: this.inFlight }, () => undefined);
    return [...this.#windows.answeredAt(now), ...inFlight].map((answeredAt) => [undefined, answeredAt]);
  }

  #end(arrivesWithinMs: PermitEnd, takenAt: number): void {
    const now = this.#clock();
    if (arrivesWithinMs === undefined) this.#windows.giveBack();
    else this.#windows.answer(now + arrivesWithinMs);
    if (arrivesWithinMs === 0) this.#roundTrip.add(now - takenAt);
    this.#changed();
  }

  #changed(): void {
    this.#forecast = undefined;
    this.#onChange();
  }
}
