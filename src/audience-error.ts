// The base of the error family.

/**
 * The effect of a write, over all attempts. If the write failed, it says whether sending it again is safe.
 *
 * - `"not-sent"`: no request left this machine.
 * - `"not-applied"`: the service responded that it changed nothing. The worst outcome of a GET.
 * - `"applied"`: the write succeeded. Only the tracing channel `audience-sdk:call` says so; no error does.
 * - `"unknown"`: the service may have carried out the write; look before you send it again.
 */
export type Outcome = "not-sent" | "not-applied" | "applied" | "unknown";

/** The call that failed. `path` is the endpoint's template, because an id in it may be an e-mail address. */
export interface ErrorRequest {
  /** Identifies the call, also in hooks and on the tracing channels; not sent to the service. */
  readonly requestId: string;
  /** The name of the call: `"v1.customers.upsert"`. */
  readonly operation: string;
  /** The HTTP method. */
  readonly method: string;
  /** The endpoint's template, ids left out: `/api/v1/customer/{id}`. */
  readonly path: string;
  /** The number of requests that the client sent or tried to send. */
  readonly attempts: number;
}

/** The input of most constructors: message, outcome, and the facts of the class. */
export type Details<Facts> = Facts & { message: string; outcome: Outcome; cause?: unknown };

// A registered symbol: the ESM build knows errors of the CommonJS build, and one copy those of another.
const brand = Symbol.for("audience-sdk.error");

/**
 * The base class of all errors. Branch on `code` (or the class), and on `outcome` before you send a write again.
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
  /** The name of the class, even if a bundler has renamed the class. */
  override readonly name: string = "AudienceError";
  /** One code for each class. It works across copies of the package, where `instanceof` fails. */
  abstract readonly code:
    | "configuration"
    | "validation"
    | "api"
    | "bad_request"
    | "authentication"
    | "permission"
    | "not_found"
    | "rate_limit"
    | "server"
    | "connection"
    | "timeout"
    | "unexpected_response"
    | "redirect"
    | "rate_limit_wait"
    | "closed"
    | "aborted";
  /** The effect of the write, over all attempts. */
  readonly outcome: Outcome;
  /** The call that failed; absent if there was none (a constructor's `ConfigurationError`). */
  declare readonly request?: ErrorRequest;
  /** Only of `events.send`: the id of every attempt. Send the event again with it, and the service records it once. */
  declare readonly uniqueIdentifier?: string;

  /** `facts` are the further properties of a class; undefined ones are left out. */
  constructor(
    message: string,
    outcome: Outcome,
    { cause, ...facts }: { readonly cause?: unknown } & Readonly<Record<string, unknown>> = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.outcome = outcome;
    note(this, facts);
    Object.defineProperty(this, brand, { value: true });
  }

  /** All public properties and the message, for structured logs. */
  toJSON(): Record<string, unknown> {
    const shown: Record<string, unknown> = { message: this.message };
    return Object.assign(shown, this);
  }
}

/** Known by its symbol: an error of any copy or module format. */
export function isBranded(value: unknown): value is AudienceError {
  return typeof value === "object" && value !== null && brand in value;
}

/** Assigns the facts that are not undefined. The transport completes an error with those of its call. */
export function note(error: AudienceError, facts: object): void {
  Object.assign(error, Object.fromEntries(Object.entries(facts).filter(([, fact]) => fact !== undefined)));
}

/**
 * Points an error's stack at the line that awaits the call, where the runtime can. An error from a timer or an event has
 * no line of the caller.
 */
export function showCaller<E>(error: E): E {
  if (isBranded(error) && "captureStackTrace" in Error) Error.captureStackTrace(error, showCaller);
  return error;
}
