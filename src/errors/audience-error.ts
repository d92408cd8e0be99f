import { setOwn } from "../set-own.ts";
import type { AnyAudienceError } from "./any-audience-error.ts";

/**
 * What a write did, over all attempts of its call, so that a caller knows whether sending it again is safe.
 *
 * - `"not-sent"`: nothing left this machine.
 * - `"not-applied"`: the service answered that it did nothing. A failed GET is never worse than this.
 * - `"applied"`: an answer proves that the write was carried out.
 * - `"unknown"`: the write may have been carried out; look before sending it again.
 */
export type Outcome = "not-sent" | "not-applied" | "applied" | "unknown";

/** The call that an error belongs to. `path` is the endpoint's template, as an id in it may be an e-mail address. */
export interface ErrorRequest {
  /** Names this call, in hooks and on the diagnostics channel too; not sent to the service. */
  readonly requestId: string;
  /** The call's name: `"v1.customers.upsert"`. */
  readonly operation: string;
  /** The HTTP method. */
  readonly method: string;
  /** The endpoint's template, ids left out: `/api/v1/customer/{id}`. */
  readonly path: string;
  /** How many requests were sent, or tried to be. */
  readonly attempts: number;
}

/** What an error holds beside its message and outcome, by the names of its fields. */
export interface ErrorFacts {
  readonly cause?: unknown;
  readonly [field: string]: unknown;
}

/** How an error ended its call, filled in by the transport once all attempts are over. */
export interface ErrorEnding {
  outcome: Outcome;
  request: ErrorRequest;
  uniqueIdentifier?: string | undefined;
}

// Registered, so that an error of the CommonJS build is known in the ESM build, and of one copy in another.
const brand = Symbol.for("audience-sdk.error");

/**
 * Every error of this package. Branch on `code` (or the class), and on `outcome` before sending a write again.
 *
 * ```ts
 * try {
 *   await audience.v1.customers.upsert(contact);
 * } catch (error) {
 *   if (isAudienceError(error) && error.outcome === "unknown") await lookBeforeSendingAgain(contact);
 *   else throw error;
 * }
 * ```
 */
export abstract class AudienceError extends Error {
  /** The class's name, also where a bundler has renamed the class. */
  override readonly name: string = "AudienceError";
  /** The kind of error, one for each class. It holds over copies of the package, where `instanceof` does not. */
  abstract readonly code: AnyAudienceError["code"];
  /** What the write did, over all attempts. */
  readonly outcome: Outcome;
  /** The call that failed; absent where there was none (a constructor's `ConfigurationError`). */
  declare readonly request?: ErrorRequest;
  /** Of `events.send` only: the id that every attempt carried. Send again with it, and the event is recorded once. */
  declare readonly uniqueIdentifier?: string;

  /** `facts` are what a class declares besides; those that are undefined are not there. */
  constructor(message: string, outcome: Outcome, { cause, ...facts }: ErrorFacts = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.outcome = outcome;
    note(this, facts);
    Object.defineProperty(this, brand, { value: true });
  }

  /** All public fields and the message, for structured logs. */
  toJSON(): Record<string, unknown> {
    const shown: Record<string, unknown> = { message: this.message };
    return Object.assign(shown, this);
  }
}

/** Whether a value is an error of this package, of whichever copy or module format. Its `code` then tells which. */
export function isAudienceError(value: unknown): value is AnyAudienceError {
  return typeof value === "object" && value !== null && brand in value;
}

/** Writes the end of its call onto an error. For the transport alone. */
export function endWith<E extends AudienceError>(error: E, ending: ErrorEnding): E {
  note(error, ending);
  return error;
}

/** Each fact under its name; one that is undefined is left out, so that it does not show. */
function note(error: AudienceError, facts: object): void {
  for (const [name, fact] of Object.entries(facts)) if (fact !== undefined) setOwn(error, name, fact);
}

/**
 * Makes an error's stack lead to whoever waits for the call, where the runtime can. An error that is made in a timer, an
 * event or a runtime's own code has no line of the caller's; looking again costs a call nothing that does not fail.
 */
export function showCaller<E>(error: E): E {
  if (isAudienceError(error) && "captureStackTrace" in Error) Error.captureStackTrace(error, showCaller);
  return error;
}
