/** How one row ended. */
export type BulkStatus =
  /** The service answered as it was asked to. */
  | "succeeded"
  /** Not sent: the row does not fit the documented rules; `error` is a `ValidationError`. */
  | "invalid"
  /** Not carried out, as far as the error's `outcome` says. */
  | "failed"
  /** It may have been carried out: look before sending it again. */
  | "unknown"
  /** Its success is on record in the checkpoint. */
  | "skipped";

/** One row's result, in the order in which rows end. */
export interface BulkResult<Row, Value> {
  /** The row's place in the source, from 0. */
  readonly index: number;
  /** What `key` gave; with a checkpoint, the second row with a key has `#2` behind it. */
  readonly key: string;
  readonly item: Row;
  readonly status: BulkStatus;
  /** What the row's call resolved to. */
  readonly value?: Value;
  readonly error?: unknown;
}

/** How many rows have ended, and how. */
export interface BulkCounts {
  succeeded: number;
  invalid: number;
  failed: number;
  unknown: number;
  skipped: number;
}

export interface BulkSummary extends Readonly<BulkCounts> {
  readonly total: number;
  readonly durationMs: number;
}

export interface BulkProgress extends Readonly<BulkCounts> {
  readonly done: number;
  /** Where the source's length is known, or `total` was given. */
  readonly total?: number;
  /** Rows that ended in the last minute, without the skipped ones; before a minute has passed, at that pace. */
  readonly ratePerMinute: number;
  /** By the rate limiter, at one call a row. Where `total` is known. */
  readonly etaMs?: number;
}
