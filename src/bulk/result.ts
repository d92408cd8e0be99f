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
  /** Not sent: another call of this client has written the contact's consent since, or `isCurrent` returned false. */
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
