import { isAudienceError } from "../errors.ts";

/** The number of rows by their end. */
export interface BulkCounts {
  /** The service carried out the row's call. */
  succeeded: number;
  /** Not sent: the row breaks a documented rule; `error` is a `ValidationError`. */
  invalid: number;
  /** Not carried out: see the error's `outcome`. */
  failed: number;
  /** Possibly carried out: look before you send it again. */
  unknown: number;
  /** Not sent: the checkpoint has recorded its success, and the row has not changed since. */
  skipped: number;
  /** Not sent: another call of this client, or of a view, wrote the contact's consent, or `isCurrent` returned false. */
  superseded: number;
}

/** How one row ended; `BulkCounts` says what each means. */
export type BulkStatus = keyof BulkCounts;

/** The result of one row. Results come in the order in which rows end. */
export interface BulkResult<Row, Value> {
  /** The row's index in the source, from 0. */
  readonly index: number;
  /** The row's key; with a checkpoint, the second row with the same key gets the suffix `#2`. */
  readonly key: string;
  /** The row. */
  readonly item: Row;
  /** The row's end. */
  readonly status: BulkStatus;
  /** The resolved value of the row's call. */
  readonly value?: Value;
  /** The error of this run, of this package or of your own function; absent for the end that an earlier run recorded. */
  readonly error?: unknown;
}

/** The summary of a run. */
export interface BulkSummary extends Readonly<BulkCounts> {
  /** The number of rows that ended. */
  readonly total: number;
  /** The duration of the run, in milliseconds. */
  readonly durationMs: number;
}

/** The time that so many more rows take, at one call a row, in milliseconds. */
export type EstimateMs = (rows: number) => number;

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

/** The end of a row. */
export type RowEnd<Value> = Omit<BulkResult<unknown, Value>, "index" | "key" | "item">;

/** The end of a row by its error. Other errors than an `AudienceError` say nothing about the service. */
export function endBy(error: unknown): RowEnd<never> {
  if (hasCode(error, "validation")) return { status: "invalid", error };
  return { status: isAudienceError(error) && error.outcome === "unknown" ? "unknown" : "failed", error };
}

/** The end of the run, or an abort of the row's own call, stopped it. */
export function isInterrupted({ status, error }: RowEnd<unknown>): boolean {
  return status !== "superseded" && hasCode(error, "aborted", "closed");
}

export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return isAudienceError(error) && codes.includes(error.code);
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

  progress(total: number | undefined, estimateMs: EstimateMs | undefined): BulkProgress {
    const { done } = this;
    // The limiter already counts the rows under way; the estimate is for the rows after them.
    const etaMs = total === undefined ? undefined : estimateMs?.(Math.max(0, total - done - this.underWay));
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
