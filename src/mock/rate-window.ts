/** At most `limit` requests in any `intervalMs` milliseconds. */
export interface MockRateWindow {
  /** The number of requests of one caller, over all its keys. */
  limit: number;
  /** The window's length, in milliseconds. */
  intervalMs: number;
}

/** The rate limit of the mock; only `windows` is required. */
export interface MockRateLimitOptions {
  /** The windows, all of which apply. */
  windows: readonly MockRateWindow[];
  /**
   * `"sliding"` (default): the last `intervalMs` before each request. `"fixed"`: a count that restarts at every multiple
   * of `intervalMs`. `"token-bucket"`: `limit` tokens, refilled evenly.
   */
  algorithm?: "sliding" | "fixed" | "token-bucket";
  /** The `Retry-After` header of a refusal; default `"seconds"`. */
  retryAfter?: "seconds" | "date" | false;
  /** Whether refused requests count; default `false`. */
  countRefused?: boolean;
  /** Shifts the edges of fixed windows, in milliseconds; default 0. */
  phaseMs?: number;
}

/** "Limits": per second, per minute, per hour. */
export const DOCUMENTED_RATE: readonly MockRateWindow[] = [
  { limit: 10, intervalMs: 1_000 },
  { limit: 100, intervalMs: 60_000 },
  { limit: 1_000, intervalMs: 3_600_000 },
];

/** One caller's count of one window. */
interface Count {
  /** Milliseconds until one more request is permitted; 0 if it is permitted now. */
  waitMs(nowMs: number): number;
  add(nowMs: number): void;
}

class SlidingCount implements Count {
  readonly #window: MockRateWindow;
  #times: number[] = [];
  #head = 0;

  constructor(window: MockRateWindow) {
    this.#window = window;
  }

  waitMs(nowMs: number): number {
    const { limit, intervalMs } = this.#window;
    while (this.#head < this.#times.length && this.#times[this.#head]! <= nowMs - intervalMs) this.#head += 1;
    if (this.#head > 1_000 && this.#head * 2 > this.#times.length) {
      this.#times = this.#times.slice(this.#head);
      this.#head = 0;
    }
    const blocking = this.#times[this.#times.length - limit];
    const isFull = this.#times.length - this.#head >= limit;
    return isFull && blocking !== undefined ? blocking + intervalMs - nowMs : 0;
  }

  add(nowMs: number): void {
    this.#times.push(nowMs);
  }
}

class FixedCount implements Count {
  readonly #window: MockRateWindow;
  readonly #phaseMs: number;
  #startMs = Number.NEGATIVE_INFINITY;
  #count = 0;

  constructor(window: MockRateWindow, phaseMs: number) {
    this.#window = window;
    this.#phaseMs = phaseMs;
  }

  waitMs(nowMs: number): number {
    this.#roll(nowMs);
    return this.#count >= this.#window.limit ? this.#startMs + this.#window.intervalMs - nowMs : 0;
  }

  add(nowMs: number): void {
    this.#roll(nowMs);
    this.#count += 1;
  }

  #roll(nowMs: number): void {
    const { intervalMs } = this.#window;
    const startMs = Math.floor((nowMs - this.#phaseMs) / intervalMs) * intervalMs + this.#phaseMs;
    if (startMs === this.#startMs) return;
    this.#startMs = startMs;
    this.#count = 0;
  }
}

class BucketCount implements Count {
  readonly #window: MockRateWindow;
  #tokens: number;
  #filledAtMs: number | undefined;

  constructor(window: MockRateWindow) {
    this.#window = window;
    this.#tokens = window.limit;
  }

  waitMs(nowMs: number): number {
    this.#fill(nowMs);
    // Rounding errors of sums may cost a millionth of a token.
    return this.#tokens >= 1 - 1e-6 ? 0 : ((1 - this.#tokens) * this.#window.intervalMs) / this.#window.limit;
  }

  add(nowMs: number): void {
    this.#fill(nowMs);
    this.#tokens = Math.max(0, this.#tokens - 1);
  }

  #fill(nowMs: number): void {
    const { limit, intervalMs } = this.#window;
    const gained = ((nowMs - (this.#filledAtMs ?? nowMs)) * limit) / intervalMs;
    this.#tokens = Math.min(limit, this.#tokens + Math.max(0, gained));
    this.#filledAtMs = nowMs;
  }
}

/** Counts the requests of each caller ("Limits": counted per IP) in all windows at once. */
export class RateLimiter {
  readonly #options: MockRateLimitOptions;
  readonly #countsByIp = new Map<string, Count[]>();

  constructor(options: MockRateLimitOptions) {
    this.#options = options;
  }

  /** Acquires a permit: 0 if the request may pass, else the milliseconds until one may. */
  acquire(clientIp: string, nowMs: number): number {
    let counts = this.#countsByIp.get(clientIp);
    if (counts === undefined) {
      counts = this.#options.windows.map((window) => this.#countOf(window));
      this.#countsByIp.set(clientIp, counts);
    }
    let waitMs = 0;
    for (const count of counts) waitMs = Math.max(waitMs, count.waitMs(nowMs));
    if (waitMs === 0 || this.#options.countRefused === true) for (const count of counts) count.add(nowMs);
    return waitMs;
  }

  #countOf(window: MockRateWindow): Count {
    if (this.#options.algorithm === "fixed") return new FixedCount(window, this.#options.phaseMs ?? 0);
    if (this.#options.algorithm === "token-bucket") return new BucketCount(window);
    return new SlidingCount(window);
  }
}

/** The value of `Retry-After`, rounded up so that a caller who obeys it is not refused; `undefined` for no header. */
export function retryAfterOf(
  waitMs: number,
  nowMs: number,
  form: "seconds" | "date" | false,
): string | undefined {
  if (form === false) return undefined;
  if (form === "seconds") return String(Math.max(1, Math.ceil(waitMs / 1_000)));
  return new Date(Math.ceil((nowMs + waitMs) / 1_000) * 1_000).toUTCString();
}
