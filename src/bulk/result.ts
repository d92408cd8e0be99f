import { ConnectionError, isAudienceError, type AbortError, type ValidationError } from "../errors.ts";
import type { Profile } from "../v1/schemas/profile.ts";

/** The number of rows by their end. */
export interface BulkCounts {
  /** The service carried out the row's call. */
  succeeded: number;
  /** Not sent: the row breaks a documented rule; `error` is a `ValidationError`. */
  invalid: number;
  /** Not carried out: see the error's `outcome`. */
  failed: number;
  /** Possibly carried out. The next run sends it again, if its call may be repeated. */
  unknown: number;
  /** Not sent: the checkpoint has recorded its success, and the row has not changed since. */
  skipped: number;
  /**
   * Held back, because it would override a consent that came after it, or is no longer current: `reason` says how that is
   * known. The error's `outcome` says whether something of it was sent before.
   */
  superseded: number;
}

/** How one row ended; `BulkCounts` says what each means. */
export type BulkStatus = keyof BulkCounts;

/**
 * How it is known that a row is superseded: `"process"`: another call of this process wrote another consent. `"service"`:
 * the service shows a refusal, or the contact no longer. `"snapshot"`: a snapshot of the service shows a refusal.
 * `"not-current"`: `isCurrent` returned false.
 */
export type SupersededReason = "process" | "service" | "snapshot" | "not-current";

/** The result of one row, by its status. Results come in the order in which rows end. */
export type BulkResult<Row, Value> = BulkItem<Row> & RowEnd<Value>;

/** The row that a result is of. */
export interface BulkItem<Row> {
  /** The row's index in the source, from 0. */
  readonly index: number;
  /** The row's key; with a checkpoint, the second row with the same key gets the suffix `#2`. */
  readonly key: string;
  /** The row. */
  readonly item: Row;
}

/** The end of a row. */
export type RowEnd<Value> =
  /** `value` is the resolved value of the row's call. */
  | { readonly status: "succeeded"; readonly value: Value; readonly error?: never }
  | { readonly status: "skipped"; readonly value?: never; readonly error?: never }
  | { readonly status: "invalid"; readonly error: ValidationError; readonly value?: never }
  /** `error` is of this run, of this package or of your own function. */
  | { readonly status: "failed" | "unknown"; readonly error: unknown; readonly value?: never }
  | SupersededEnd;

/** The end of a superseded row. */
export interface SupersededEnd {
  /** Held back, because it would override a consent that came after it, or is no longer current. */
  readonly status: "superseded";
  /** How that is known. */
  readonly reason: SupersededReason;
  /** Of `"service"`: the contact as the service shows it; absent if it has none, and for an end of an earlier run. */
  readonly service?: Profile | undefined;
  /**
   * Its `outcome` is that of all calls of the row: `"not-sent"`, unless one of them was sent before, or `isCurrent` said no
   * after the response. Absent for the end that an earlier run recorded.
   */
  readonly error?: AbortError | undefined;
  /** Never present: nothing succeeded. */
  readonly value?: never;
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

/** The end of a row by its error. Other errors than an `AudienceError` say nothing about the service. */
export function endBy(error: unknown): RowEnd<never> {
  // Safe: the class of the code.
  if (hasCode(error, "validation")) return { status: "invalid", error: error as ValidationError };
  return { status: isAudienceError(error) && error.outcome === "unknown" ? "unknown" : "failed", error };
}

/** The error of a row, or of a call of it, that is not sent because of its record. */
export function inDoubt(): ConnectionError {
  const message =
    "Not sent: an earlier run may have carried out a call of the row that must not be repeated.";
  return new ConnectionError({ message, outcome: "unknown", reason: "other" });
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
