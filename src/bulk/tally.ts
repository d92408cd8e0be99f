import type { BulkCounts, BulkProgress, BulkStatus, BulkSummary } from "./result.ts";

const minuteMs = 60_000;
const slots = 60;

/** Counts the ends of rows and their rate, in constant memory. */
export class Tally {
  readonly #counts: BulkCounts = {
    succeeded: 0,
    invalid: 0,
    failed: 0,
    unknown: 0,
    skipped: 0,
    superseded: 0,
  };
  readonly #now: () => number;
  #startedAt: number;
  /** Rows that ended in each of the last sixty seconds, without skipped and superseded rows. */
  readonly #perSecond = new Array<number>(slots).fill(0);
  #second = 0;

  constructor(now: () => number) {
    this.#now = now;
    this.#startedAt = now();
  }

  /** Starts the clock. */
  begin(): void {
    this.#startedAt = this.#now();
  }

  get done(): number {
    return Object.values<number>({ ...this.#counts }).reduce((sum, count) => sum + count, 0);
  }

  add(status: BulkStatus): void {
    this.#counts[status]++;
    if (status === "skipped" || status === "superseded") return;
    this.#advance();
    this.#perSecond[this.#second % slots]! += 1;
  }

  /** The limiter already counts the rows in progress; the estimate is for the rows after them. */
  progress(
    total: number | undefined,
    { underWay, estimateMs }: { underWay: number; estimateMs: (calls: number) => number | undefined },
  ): BulkProgress {
    const { done } = this;
    const etaMs = total === undefined ? undefined : estimateMs(Math.max(0, total - done - underWay));
    return {
      done,
      ...(total === undefined ? {} : { total }),
      ...this.#counts,
      ratePerMinute: this.#ratePerMinute(),
      ...(etaMs === undefined ? {} : { etaMs }),
    };
  }

  summary(): BulkSummary {
    return { total: this.done, ...this.#counts, durationMs: this.#now() - this.#startedAt };
  }

  #ratePerMinute(): number {
    this.#advance();
    const recent = this.#perSecond.reduce((sum, count) => sum + count, 0);
    const passedMs = Math.min(Math.max(this.#now() - this.#startedAt, 1), minuteMs);
    return Math.round((recent / passedMs) * minuteMs);
  }

  /** Clears the seconds that have passed since the last call. */
  #advance(): void {
    const second = Math.floor((this.#now() - this.#startedAt) / 1_000);
    for (let at = Math.max(this.#second + 1, second - slots + 1); at <= second; at++)
      this.#perSecond[at % slots] = 0;
    this.#second = Math.max(this.#second, second);
  }
}
