// The longest delay that timers take; a longer one would fire at once.
const longestMs = 2 ** 31 - 1;

/** One timer, set only while somebody waits: it keeps the process alive then, and never otherwise. */
export class Alarm {
  readonly #ring: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #dueAt = Infinity;

  constructor(ring: () => void) {
    this.#ring = ring;
  }

  /** Rings `delayMs` after `now`, and not at the time it was set to before. */
  set(delayMs: number, now: number): void {
    const dueAt = now + delayMs;
    if (this.#timer !== undefined && dueAt === this.#dueAt) return;
    this.clear();
    this.#dueAt = dueAt;
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        this.#ring();
      },
      Math.min(longestMs, Math.max(1, Math.ceil(delayMs))),
    );
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
