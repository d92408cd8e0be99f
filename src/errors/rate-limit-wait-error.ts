import { AudienceError } from "./audience-error.ts";

/** One window of the rate limit: at most `limit` calls in any `intervalMs` milliseconds ("Limits"). */
export interface RateLimitWindow {
  /** How many calls. */
  readonly limit: number;
  /** The window's length, in milliseconds. */
  readonly intervalMs: number;
}

export interface RateLimitWaitDetails {
  message: string;
  waitMs: number;
  retryAt: Date;
  window?: RateLimitWindow | undefined;
}

/** The call would have to wait for the rate limit longer than it may, or the queue is full. */
export class RateLimitWaitError extends AudienceError {
  override readonly name = "RateLimitWaitError";
  readonly code = "rate_limit_wait";
  /** How long the wait would have been, in milliseconds. */
  declare readonly waitMs: number;
  /** When to try again. */
  declare readonly retryAt: Date;
  /** The window that is full, where one is. */
  declare readonly window?: RateLimitWindow;

  constructor({ message, ...facts }: RateLimitWaitDetails) {
    super(message, "not-sent", facts);
  }
}
