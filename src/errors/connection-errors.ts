import { AudienceError, type Outcome } from "./audience-error.ts";

/** Why no answer came: `"other"` where the runtime does not tell. */
export type ConnectionFailureReason = "refused" | "dns" | "tls" | "reset" | "other";

export interface ConnectionErrorDetails {
  message: string;
  outcome: Outcome;
  cause?: unknown;
  reason: ConnectionFailureReason;
}

/** No full answer came. `reason` tells how the connection failed, as far as the runtime tells. */
export class ConnectionError extends AudienceError {
  override readonly name: string = "ConnectionError";
  readonly code: "connection" | "timeout" = "connection";
  /** `"other"` where the runtime does not tell. */
  declare readonly reason: ConnectionFailureReason;

  constructor({ message, outcome, ...facts }: ConnectionErrorDetails) {
    super(message, outcome, facts);
  }
}

export interface TimeoutErrorDetails {
  message: string;
  outcome: Outcome;
  cause?: unknown;
  timeoutMs: number;
}

/**
 * An attempt took longer than `timeoutMs`, or the call longer than `deadlineMs`. Where it is the backoff that would pass
 * the deadline, `cause` is the failure that was to be retried.
 */
export class TimeoutError extends ConnectionError {
  override readonly name = "TimeoutError";
  override readonly code = "timeout";
  /** The limit that passed, in milliseconds. */
  declare readonly timeoutMs: number;

  constructor(details: TimeoutErrorDetails) {
    super({ ...details, reason: "other" });
  }
}
