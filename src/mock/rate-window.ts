import {
  arrayOf,
  boolean,
  enumOf,
  fromOne,
  isObject,
  note,
  number,
  object,
  type Rule,
  that,
} from "./json-rules.ts";

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
  algorithm?: "sliding" | "fixed" | "token-bucket" | undefined;
  /** The `Retry-After` header of a refusal; default `"seconds"`. */
  retryAfter?: "seconds" | "date" | false | undefined;
  /** Whether refused requests count; default `false`. */
  countRefused?: boolean | undefined;
  /** Shifts the edges of fixed windows, in milliseconds; default 0. */
  phaseMs?: number | undefined;
}

/** "Limits": per second, per minute, per hour. */
const DOCUMENTED_RATE: readonly MockRateWindow[] = [
  { limit: 10, intervalMs: 1_000 },
  { limit: 100, intervalMs: 60_000 },
  { limit: 1_000, intervalMs: 3_600_000 },
];

/** One caller's count of one window. */
interface Count {
  /** Milliseconds until one more request is permitted; 0 if it is permitted now. */
  waitMs(nowMs: number): number;
  add(nowMs: number): void;
  /** The permits that are in use. */
  used(nowMs: number): number;
}

/** How much of one window a caller has used. */
export interface MockRateUsage extends MockRateWindow {
  used: number;
  /** Milliseconds until the next permit of this window; 0 if there is one now. */
  waitMs: number;
}

function slidingCount({ limit, intervalMs }: MockRateWindow): Count {
  let times: number[] = [];
  const recent = (nowMs: number) => (times = times.filter((timeMs) => timeMs > nowMs - intervalMs));
  return {
    waitMs(nowMs) {
      const blocking = recent(nowMs).at(-limit);
      return blocking === undefined ? 0 : blocking + intervalMs - nowMs;
    },
    add: (nowMs) => void times.push(nowMs),
    used: (nowMs) => recent(nowMs).length,
  };
}

function fixedCount({ limit, intervalMs }: MockRateWindow, phaseMs: number): Count {
  let startMs = Number.NEGATIVE_INFINITY;
  let used = 0;
  const restart = (nowMs: number): void => {
    const currentMs = Math.floor((nowMs - phaseMs) / intervalMs) * intervalMs + phaseMs;
    if (currentMs !== startMs) [startMs, used] = [currentMs, 0];
  };
  return {
    waitMs(nowMs) {
      restart(nowMs);
      return used >= limit ? startMs + intervalMs - nowMs : 0;
    },
    add(nowMs) {
      restart(nowMs);
      used += 1;
    },
    used(nowMs) {
      restart(nowMs);
      return used;
    },
  };
}

function tokenBucket({ limit, intervalMs }: MockRateWindow): Count {
  let tokens = limit;
  let filledAtMs: number | undefined;
  const fill = (nowMs: number): void => {
    const gained = ((nowMs - (filledAtMs ?? nowMs)) * limit) / intervalMs;
    tokens = Math.min(limit, tokens + Math.max(0, gained));
    filledAtMs = nowMs;
  };
  return {
    waitMs(nowMs) {
      fill(nowMs);
      // Rounding errors of sums may cost a millionth of a token.
      return tokens >= 1 - 1e-6 ? 0 : ((1 - tokens) * intervalMs) / limit;
    },
    add(nowMs) {
      fill(nowMs);
      tokens = Math.max(0, tokens - 1);
    },
    used(nowMs) {
      fill(nowMs);
      return Math.ceil(limit - tokens - 1e-6);
    },
  };
}

function longestWait(counts: readonly Count[], nowMs: number): number {
  return Math.max(...counts.map((count) => count.waitMs(nowMs)));
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
    const waitMs = longestWait(counts, nowMs);
    if (waitMs > 0 && this.#options.countRefused !== true) return waitMs;
    for (const count of counts) count.add(nowMs);
    // A refused request that counts lengthens the wait.
    return waitMs > 0 ? longestWait(counts, nowMs) : 0;
  }

  /** The usage of each caller, by its address. */
  usage(nowMs: number): Map<string, MockRateUsage[]> {
    const usageOf = (counts: readonly Count[]) =>
      counts.map((count, at) => ({
        // Safe: there is a count for each window.
        ...this.#options.windows[at]!,
        used: count.used(nowMs),
        waitMs: count.waitMs(nowMs),
      }));
    return new Map([...this.#countsByIp].map(([ip, counts]) => [ip, usageOf(counts)]));
  }

  #countOf(window: MockRateWindow): Count {
    if (this.#options.algorithm === "fixed") return fixedCount(window, this.#options.phaseMs ?? 0);
    if (this.#options.algorithm === "token-bucket") return tokenBucket(window);
    return slidingCount(window);
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

const windows = arrayOf(
  object(
    { limit: fromOne, intervalMs: that(isInterval, "must be milliseconds above 0") },
    { required: ["limit", "intervalMs"] },
  ),
  { min: 1 },
);
const fields: Record<keyof MockRateLimitOptions, Rule> = {
  windows,
  algorithm: enumOf("sliding", "fixed", "token-bucket"),
  retryAfter: enumOf("seconds", "date", false),
  countRefused: boolean,
  phaseMs: number,
};
const rateLimitRule = object(fields, { required: ["windows"] });

export const rateLimitsRule: Rule = (value, path, problems) => {
  if (value === false || value === "documented") return;
  if (typeof value !== "object")
    return note(
      problems,
      path,
      'must be false, "documented", an array of windows, or an object with windows',
    );
  (isObject(value) ? rateLimitRule : windows)(value, path, problems);
};

function isInterval(value: unknown): boolean {
  return Number.isFinite(value) && Number(value) > 0;
}

/** The rate limit that the option names, with windows `speed` times shorter; `undefined` for none. */
export function rateLimitOf(
  given: false | "documented" | readonly MockRateWindow[] | MockRateLimitOptions,
  speed = 1,
): MockRateLimitOptions | undefined {
  if (given === false) return undefined;
  const options = given === "documented" ? { windows: DOCUMENTED_RATE } : given;
  const { windows: full, phaseMs = 0, ...others } = "windows" in options ? options : { windows: options };
  const shorter = full.map(({ limit, intervalMs }) => ({ limit, intervalMs: intervalMs / speed }));
  return { ...others, windows: shorter, phaseMs: phaseMs / speed };
}
