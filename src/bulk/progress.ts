import type { BulkCounts, BulkProgress, BulkStatus, BulkSummary } from "./result.ts";

const minuteMs = 60_000;

/** Counts the rows of a run by their end. */
export class ProgressCounter {
  /** The number of rows that were read and have not ended. */
  underWay = 0;
  readonly #counts: BulkCounts = {
    succeeded: 0,
    invalid: 0,
    failed: 0,
    unknown: 0,
    skipped: 0,
    superseded: 0,
  };
  /** When rows ended in the last minute, without skipped and superseded rows. */
  #recentEnds: number[] = [];
  readonly #now: () => number;
  #startedAt: number;

  constructor(now: () => number) {
    this.#now = now;
    this.#startedAt = now();
  }

  startClock(): void {
    this.#startedAt = this.#now();
  }

  get done(): number {
    return Object.values<number>({ ...this.#counts }).reduce((sum, count) => sum + count, 0);
  }

  add(status: BulkStatus): void {
    this.#counts[status]++;
    const now = this.#now();
    if (status !== "skipped" && status !== "superseded") this.#recentEnds.push(now);
    while (this.#recentEnds[0]! <= now - minuteMs) this.#recentEnds.shift();
  }

  progress(total: number | undefined, estimateMs: (calls: number) => number | undefined): BulkProgress {
    const { done } = this;
    // The limiter already counts the rows under way; the estimate is for the rows after them.
    const etaMs = total === undefined ? undefined : estimateMs(Math.max(0, total - done - this.underWay));
    const passedMs = Math.min(Math.max(this.#now() - this.#startedAt, 1), minuteMs);
    return {
      done,
      ...(total === undefined ? {} : { total }),
      ...this.#counts,
      ratePerMinute: Math.round((this.#recentEnds.length / passedMs) * minuteMs),
      ...(etaMs === undefined ? {} : { etaMs }),
    };
  }

  summary(): BulkSummary {
    return { total: this.done, ...this.#counts, durationMs: this.#now() - this.#startedAt };
  }
}

/** As with hooks, an error or a rejection of `onProgress` changes nothing. */
export function notify(onProgress: (progress: BulkProgress) => unknown, progress: BulkProgress): void {
  void (async () => await onProgress(progress))().catch(() => undefined);
}
