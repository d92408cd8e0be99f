import type { RateLimiter } from "../rate-limiter/rate-limiter.ts";
import type { BulkCounts, BulkStatus } from "./result.ts";

/** The summary of a run. */
export interface BulkSummary extends Readonly<BulkCounts> {
  /** The number of rows that ended. */
  readonly total: number;
  /** The duration of the run, in milliseconds. */
  readonly durationMs: number;
}

/** The progress of a run. */
export interface BulkProgress extends Readonly<BulkCounts> {
  /** The number of rows that have ended, skipped and superseded rows included. */
  readonly done: number;
  /** The number of all rows, if the source's length is known or `total` was given. */
  readonly total?: number;
  /** Rows per minute over the last minute, without skipped and superseded rows. */
  readonly ratePerMinute: number;
  /** The time for the remaining rows, in milliseconds, at one call a row; present if `total` is known. */
  readonly etaMs?: number;
}

const minuteMs = 60_000;

/** Counts the rows of a run by their end. */
export class ProgressCounter {
  /** The number of rows that were read and have not ended. */
  underWay = 0;
  readonly #counts = { succeeded: 0, invalid: 0, failed: 0, unknown: 0, skipped: 0, superseded: 0 };
  /** When rows ended in the last minute, without skipped and superseded rows. */
  #recentEnds: number[] = [];
  /** The beginning of the run, on the clock of `performance.now()`. */
  startedAt = performance.now();

  get done(): number {
    return Object.values(this.#counts).reduce((sum, count) => sum + count, 0);
  }

  add(status: BulkStatus): void {
    this.#counts[status]++;
    const now = performance.now();
    if (status !== "skipped" && status !== "superseded") this.#recentEnds.push(now);
    while (this.#recentEnds[0]! <= now - minuteMs) this.#recentEnds.shift();
  }

  progress(total: number | undefined, limiter: RateLimiter | undefined): BulkProgress {
    const { done } = this;
    // The limiter already counts the rows under way; the estimate is for the rows after them.
    const etaMs =
      total === undefined ? undefined : limiter?.estimateMs(Math.max(0, total - done - this.underWay));
    const passedMs = Math.min(Math.max(performance.now() - this.startedAt, 1), minuteMs);
    return {
      done,
      ...(total === undefined ? {} : { total }),
      ...this.#counts,
      ratePerMinute: Math.round((this.#recentEnds.length / passedMs) * minuteMs),
      ...(etaMs === undefined ? {} : { etaMs }),
    };
  }

  summary(): BulkSummary {
    return { total: this.done, ...this.#counts, durationMs: performance.now() - this.startedAt };
  }
}
