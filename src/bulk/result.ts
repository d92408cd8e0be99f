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
  /** Not sent: the checkpoint has its success recorded, and it has not changed since. */
  | "skipped"
  /** Not sent: another call of this client has written the contact's consent since, or `isCurrent` says so. */
  | "superseded";

/** One row's result, in the order in which rows end. */
export interface BulkResult<Row, Value> {
  /** The row's place in the source, from 0. */
  readonly index: number;
  /** What `key` gave; with a checkpoint, the second row with a key has `#2` behind it. */
  readonly key: string;
  /** The row, as the source gave it. */
  readonly item: Row;
  /** How it ended. */
  readonly status: BulkStatus;
  /** What the row's call resolved to. */
  readonly value?: Value;
  /** Why it did not succeed, where this run found it out: one of this package's errors, or what your own function threw. */
  readonly error?: unknown;
}

/** How many rows have ended, and how. */
export interface BulkCounts {
  /** The service did what was asked. */
  succeeded: number;
  /** Not sent, as the row does not fit the rules. */
  invalid: number;
  /** Not carried out. */
  failed: number;
  /** Perhaps carried out. */
  unknown: number;
  /** Done by an earlier run and not changed since, as the checkpoint tells. */
  skipped: number;
  /** Not sent, as a later word on the contact's consent stands. */
  superseded: number;
}

/** What a run came to, once it has ended. */
export interface BulkSummary extends Readonly<BulkCounts> {
  /** Rows that ended, however they did. */
  readonly total: number;
  /** From the run's start to its end, in milliseconds. */
  readonly durationMs: number;
}

/** How far a run is. */
export interface BulkProgress extends Readonly<BulkCounts> {
  /** Rows that have ended, skipped and superseded ones among them. */
  readonly done: number;
  /** Rows in all: where the source's length is known, or `total` was given. */
  readonly total?: number;
  /** Rows that ended in the last minute, without those that were not sent as an earlier run or a later word settled them; before a minute has passed, at that pace. */
  readonly ratePerMinute: number;
  /** How long the rest takes, in milliseconds, by the rate limiter and at one call a row: where `total` is known. */
  readonly etaMs?: number;
}
