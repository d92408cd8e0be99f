/** While calls wait, the alarm rings at least this often: a timer of more than 24 days would fire at once. */
export const longestSleepMs = 60_000;

/** The timer that wakes the calls that wait. It keeps the process alive meanwhile. */
export class Alarm {
  readonly #ring: () => void;
  readonly #clock: () => number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** `Infinity` while the alarm is not set. */
  #ringsAt = Infinity;

  constructor(ring: () => void, clock: () => number) {
    this.#ring = ring;
    this.#clock = clock;
  }

  /** The alarm rings at this time, or before. */
  setBy(at: number): void {
    if (at >= this.#ringsAt) return;
    this.clear();
    this.#ringsAt = at;
    const sleepMs = Math.max(1, Math.ceil(Math.min(at - this.#clock(), longestSleepMs)));
    this.#timer = setTimeout(this.#ring, sleepMs);
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#ringsAt = Infinity;
  }
}
