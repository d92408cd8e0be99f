import { RateLimitWaitError } from "../errors.ts";
import type { RateLimiter } from "../rate-limiter/rate-limiter.ts";
import type { Call } from "./call.ts";
import { ContactOrder } from "./contact-order.ts";
import type { Redactor } from "./redact.ts";

/**
 * What all views of one client share: its limiter, its place in the limiter's turns, the order of its writes, the keys
 * that must not show, its end.
 */
export class Session {
  readonly limiter: RateLimiter | undefined;
  readonly redactor: Redactor;
  readonly order = new ContactOrder();
  readonly #calls = new Set<Call>();
  #isClosed = false;

  constructor(limiter: RateLimiter | undefined, redactor: Redactor) {
    this.limiter = limiter;
    this.redactor = redactor;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Keeps a call in sight, from here to `ended`. */
  began(call: Call): void {
    this.#calls.add(call);
  }

  ended(call: Call): void {
    this.#calls.delete(call);
  }

  /** Rejects what waits, and resolves when what is on its way has ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const calls = [...this.#calls];
    for (const call of calls) call.close(closedError());
    await Promise.allSettled(calls.map(async ({ result }) => result));
  }
}

export function closedError(): RateLimitWaitError {
  return new RateLimitWaitError({ message: "The client was closed.", waitMs: 0, retryAt: new Date() });
}
