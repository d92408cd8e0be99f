import type { ConsentWrite } from "../consent.ts";
import { ClientClosedError, type Outcome } from "../errors.ts";
import type { RateLimiter } from "../rate-limiter/rate-limiter.ts";
import type { CallOptions } from "./call-options.ts";
import type { Call } from "./call.ts";
import type { ConsentWatch } from "./consent-watch.ts";
import { ContactOrder } from "./contact-order.ts";
import type { Redactor } from "./redact.ts";

/**
 * What all views of one client share: its limiter, its place in the limiter's turns, the order of its writes, the keys
 * that must not show, its bulk runs, its end.
 */
export class Session {
  readonly limiter: RateLimiter | undefined;
  readonly redactor: Redactor;
  readonly order = new ContactOrder();
  /** The bulk runs under way. */
  readonly #consentWatches = new Set<ConsentWatch>();
  #rowOptions: CallOptions | undefined;
  readonly #calls = new Set<Call>();
  readonly #closing = new AbortController();

  constructor(limiter: RateLimiter | undefined, redactor: Redactor) {
    this.limiter = limiter;
    this.redactor = redactor;
  }

  /** Aborted by `close()`. */
  get closed(): AbortSignal {
    return this.#closing.signal;
  }

  get isClosed(): boolean {
    return this.closed.aborted;
  }

  /** Lets a run watch writes of consent, until the function that it gives is called. */
  watchBy(watch: ConsentWatch): () => void {
    this.#consentWatches.add(watch);
    return () => void this.#consentWatches.delete(watch);
  }

  /** Calls a row's function: what it calls before it first waits is the row's, also where `request` was not handed on. */
  callAsRow<T>(request: CallOptions, call: () => T): T {
    this.#rowOptions = request;
    try {
      return call();
    } finally {
      this.#rowOptions = undefined;
    }
  }

  get rowOptions(): CallOptions | undefined {
    return this.#rowOptions;
  }

  /** Keeps a call in sight, from here to `ended`. */
  began(call: Call): void {
    this.#calls.add(call);
  }

  ended(call: Call): void {
    this.#calls.delete(call);
  }

  /** Tells every other run of a write of consent, before it is sent and after it has ended. */
  async watchConsent<T>(
    write: ConsentWrite,
    own: ConsentWatch | undefined,
    work: { run: () => Promise<T>; outcome: () => Outcome; applied: (result: T) => ConsentWrite },
  ): Promise<T> {
    const others = () => [...this.#consentWatches].filter((watch) => watch !== own);
    const begun = others().map((watch) => watch.begins(write));
    // Where nobody watches, the call leaves in the turn in which it was made.
    if (begun.length > 0) await Promise.all(begun);
    try {
      const result = await work.run();
      const applied = work.applied(result);
      for (const watch of others()) watch.ended(applied, "applied");
      return result;
    } catch (error) {
      const outcome = work.outcome();
      for (const watch of others()) watch.ended(write, outcome);
      throw error;
    }
  }

  /** Rejects what waits, and resolves when what is on its way has ended. */
  async close(): Promise<void> {
    this.#closing.abort();
    const calls = [...this.#calls];
    for (const call of calls) call.close(new ClientClosedError());
    await Promise.allSettled(calls.map(async ({ result }) => result));
  }
}
