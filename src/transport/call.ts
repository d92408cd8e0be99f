import type { Operation } from "../endpoint.ts";
import { endWith, isAudienceError, type AudienceError, type Outcome } from "../errors.ts";
import type { Companion } from "./call-options.ts";
import { Interruption } from "./interruption.ts";

const severity: readonly Outcome[] = ["not-sent", "not-applied", "unknown", "applied"];

/** Which call it is. */
export interface CallFacts {
  readonly requestId: string;
  readonly operation: Operation;
  readonly method: "GET" | "POST";
  readonly path: string;
}

/** One call: who it is, what its attempts have done so far, and the one place where it can be interrupted. */
export class Call {
  readonly facts: CallFacts;
  attempts = 0;
  queuedMs = 0;
  /** Sent, and not answered to the last byte yet. */
  isInFlight = false;
  /** Answered, read and decoded: what comes now to interrupt the call comes too late. */
  hasSucceeded = false;
  /** It had a place, and was refused with 429 or held back by a pause: it goes first when the limiter's pause ends. */
  isRequeued = false;
  /** Attempts that the rate limit alone turned away, and that a row of a bulk run does not count. */
  turnedAway = 0;
  uniqueIdentifier: string | undefined;
  #outcome: Outcome = "not-sent";
  #isWaiting = false;
  #closing: AudienceError | undefined;
  /** Aborted, with an error of ours as its reason, when the caller is not waiting for this call any more. */
  readonly signal = new Interruption();
  /** Settles when all is over. What the caller was given is made of it, so listening here answers for no failure. */
  result: Promise<unknown> | undefined;
  /** The row of a bulk run that it belongs to. */
  companion: Companion | undefined;

  constructor(facts: CallFacts) {
    this.facts = facts;
  }

  /** What one attempt did. A read changes nothing, so it is never worse than not applied. */
  record(outcome: Outcome): void {
    const seen = this.facts.method === "GET" && outcome === "unknown" ? "not-applied" : outcome;
    if (severity.indexOf(seen) > severity.indexOf(this.#outcome)) this.#outcome = seen;
  }

  /** From here to `goesOn` the call only waits: for earlier writes to its contact, a place, its key, or its next attempt. */
  waits(): void {
    this.#isWaiting = true;
    if (this.#closing) this.interrupt(this.#closing);
  }

  goesOn(): void {
    this.#isWaiting = false;
  }

  /** What all attempts so far have done. */
  get outcome(): Outcome {
    return this.#outcome;
  }

  /** Ends the call where it waits, now or later. What is on its way is seen through to its end. */
  close(error: AudienceError): void {
    this.#closing = error;
    if (this.#isWaiting) this.interrupt(error);
  }

  /** Ends the call from outside: by its signal, its deadline, or `close()`. */
  interrupt(error: AudienceError): void {
    if (this.hasSucceeded) return;
    if (this.isInFlight) this.record("unknown");
    this.signal.abort(this.end(error));
  }

  /**
   * Gives what `work` gives, but rejects at the moment of an interruption: the work may still have to see an exchange
   * through to its end, so that its place in the rate limit is known.
   */
  race<T>(work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.signal.addEventListener("abort", () => reject(this.signal.reason));
      work().then(resolve, reject);
    });
  }

  /** Completes an error with what only the whole call knows. */
  end<E>(error: E): E {
    /* v8 ignore next -- @preserve a defect of our own */
    if (!isAudienceError(error)) return error;
    if (error.request) return error;
    const { facts, attempts, uniqueIdentifier } = this;
    return endWith(error, { outcome: this.#outcome, request: { ...facts, attempts }, uniqueIdentifier });
  }
}
