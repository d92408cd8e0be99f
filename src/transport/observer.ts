import type { Operation } from "../endpoint.ts";
import { isAudienceError } from "../errors.ts";
import type { ExpectedWait } from "../rate-limiter/fair-queue.ts";
import { errorMessage, errorType, ignoreRejection, printable, shortened } from "../values/in-words.ts";
import { hasProperty } from "../values/predicates.ts";
import { identityOf, type CallContext } from "./call-outcome.ts";
import { maskAddresses, type Redactor } from "./redact.ts";

/** The argument of a hook: the call, the attempt and its result. No key, e-mail address, phone number or body. */
export interface RequestEvent {
  /** One per call, the same for all its attempts. */
  requestId: string;
  /** The name of the call: `"v1.customers.upsert"`. */
  operation: Operation;
  /** The HTTP method. */
  method: string;
  /** The endpoint's template, as an id may be an e-mail address: `/api/v1/customer/{id}`. */
  path: string;
  /** From 1. */
  attempt: number;
  /** The status of the response, if there is one. */
  status?: number;
  /** From sending to the last body byte, in milliseconds. */
  durationMs?: number;
  /** The wait before the next attempt, or for the rate limit, in milliseconds. */
  waitMs?: number;
  /** The failure: its class, its `code`, and the status if there was a response. */
  error?: { name: string; code: string; status?: number };
}

/** Called synchronously; an error of a hook is logged and changes nothing. */
export interface Hooks {
  /** An attempt is sent. */
  onRequest?: ((event: RequestEvent) => void) | undefined;
  /** An attempt got a response: with `status`, `durationMs`, and `error` if the response is one. */
  onResponse?: ((event: RequestEvent) => void) | undefined;
  /** An attempt failed and another follows in `waitMs`: with `error`. */
  onRetry?: ((event: RequestEvent) => void) | undefined;
  /** A call waits more than ten seconds for the rate limit: with `waitMs`. */
  onThrottle?: ((event: RequestEvent) => void) | undefined;
}

/**
 * `console`, or a logger of pino, winston or Nest, for example: an object with any of these methods. The client logs no
 * errors, because it throws them. Without a logger nothing is printed, unless `AUDIENCE_LOG` names a level.
 */
export interface Logger {
  /** Each attempt, wait and retry. */
  debug?(message: string): void;
  /** A wait for the lock of a file. */
  info?(message: string): void;
  /** A long wait, an unavailable rate limit store, and a failed hook. */
  warn?(message: string): void;
  /** Accepted, so that every usual logger fits. */
  error?(message: string): void;
}

/** The lowest level that is passed to the logger; `"silent"`: none. */
export type LogLevel = "debug" | "info" | "warn" | "error" | "silent";

export const logLevels: readonly LogLevel[] = ["debug", "info", "warn", "error", "silent"];

/** The limiters of which a warning has said that the service refuses more than they do. */
const warnedLimiters = new WeakSet<object>();
const longWaitMs = 10_000;
const shownErrorLength = 200;

/** What a hook is told of an attempt, beside the identity of its call. */
export type AttemptDetails = Omit<RequestEvent, keyof ReturnType<typeof identityOf>>;

/** Reports the attempts and waits of a client's calls to its hooks and its logger. Neither can change a call. */
export class Observer {
  readonly #hooks: Hooks;
  readonly #logger: Logger | undefined;
  readonly #lowestLogLevel: number;
  readonly #redactor: Redactor;
  #hasStoreWarning = false;

  constructor(hooks: Hooks, logger: Logger | undefined, logLevel: LogLevel, redactor: Redactor) {
    this.#hooks = hooks;
    this.#logger = logger;
    this.#lowestLogLevel = logLevels.indexOf(logLevel);
    this.#redactor = redactor;
  }

  /** Calls the hook, and writes a line about an attempt. Returns whether there is a logger for it. */
  report(
    context: CallContext,
    details: AttemptDetails,
    text: string,
    { hook, level = "debug" }: { hook?: keyof Hooks | undefined; level?: "debug" | "warn" } = {},
  ): boolean {
    if (hook && hasProperty(this.#hooks, hook)) {
      const hookFailed = (error: unknown) => this.failed(`the hook ${hook}`, error);
      try {
        // A copy, so that a hook cannot change the event of the attempt.
        const event = structuredClone({ ...identityOf(context), ...details });
        ignoreRejection(this.#hooks[hook]?.(event), hookFailed);
      } catch (error) {
        hookFailed(error);
      }
    }
    return this.#log(level, () => {
      const { operation, requestId } = identityOf(context);
      return `${operation}, attempt ${details.attempt} (request ${requestId}) ${text}`;
    });
  }

  /** Whether anybody is told of a wait: what is expected of thousands of waiting calls costs time. */
  get hearsOfWaits(): boolean {
    return this.#logger !== undefined || hasProperty(this.#hooks, "onThrottle");
  }

  /** An expected wait for the rate limit, which may become long, or meet an outage of the store. Returns the function that ends it. */
  waits(
    context: CallContext,
    expected: ExpectedWait,
    limiter: { readonly storeWarning: string | undefined },
  ): () => void {
    const reportWait = (waitMs: number): boolean => {
      // An outage of the store is then the reason.
      const warning = limiter.storeWarning;
      this.storeWarning(warning);
      const isLong = waitMs > longWaitMs;
      const why =
        expected.isForOthers && warning === undefined ? " and leaves room for other calls (reserve)" : "";
      const text = `waits ${Math.round(waitMs)} ms for the rate limit${why}`;
      const details = { attempt: context.attempts + 1, waitMs };
      this.report(context, details, text, isLong ? { hook: "onThrottle", level: "warn" } : {});
      return isLong;
    };
    let isLong = reportWait(expected.waitMs);
    const reportLongWait = (): void => {
      if (isLong) this.storeWarning(limiter.storeWarning);
      else isLong = reportWait(longWaitMs + 1);
      timer = setTimeout(reportLongWait, longWaitMs + 1);
    };
    let timer = setTimeout(reportLongWait, longWaitMs + 1);
    return () => clearTimeout(timer);
  }

  /** The rate limit store is unavailable, or back (undefined): one warning for each time. */
  storeWarning(warning: string | undefined): void {
    if (warning !== undefined && !this.#hasStoreWarning) this.warn(warning);
    this.#hasStoreWarning = warning !== undefined;
  }

  /** A line of the package that belongs to no call. */
  info(message: string): void {
    this.#log("info", () => message);
  }

  warn(message: string): void {
    this.#log("warn", () => message);
  }

  /** The service refused a call for its rate, though the limiter has kept to its limits: one line for each limiter. */
  refused(context: CallContext, limiter: object): void {
    if (warnedLimiters.has(limiter)) return;
    const text =
      "was refused for its rate, though the limiter has kept to its limits: another program behind this address, or another limit, is the likely cause (with a store, also an outage of it)";
    if (this.report(context, { attempt: context.attempts }, text, { level: "warn" }))
      warnedLimiters.add(limiter);
  }

  /** A function of the user failed: one line, and nothing else changes. */
  failed(name: string, error: unknown): void {
    this.#log("warn", () => `${name} failed with ${this.#describe(error)}; this changes nothing`);
  }

  /** The type of an error and the first line of its message, which may hold a key, or a contact. */
  #describe(error: unknown): string {
    const message = errorMessage(error).split("\n", 1)[0];
    const described = maskAddresses(this.#redactor.string(errorType(error) + (message && `: ${message}`)));
    return printable(shortened(described, shownErrorLength));
  }

  /** The text is a function, as it may ask for the id of the request. Returns whether there is a logger for it. */
  #log(level: "debug" | "info" | "warn", text: () => string): boolean {
    const logger = this.#logger;
    if (logLevels.indexOf(level) < this.#lowestLogLevel || !logger) return false;
    try {
      if (!hasProperty(logger, level) || !logger[level]) return false;
      ignoreRejection(logger[level](`audience-sdk: ${text()}`));
    } catch {
      // A logger that throws must not fail the call, and its error cannot be logged.
    }
    return true;
  }
}

export function errorSummary(error: unknown): NonNullable<RequestEvent["error"]> {
  // Hooks and logs do not show the error of a user's function.
  if (!isAudienceError(error)) return { name: "Error", code: "other" };
  const { name, code } = error;
  return "status" in error ? { name, code, status: error.status } : { name, code };
}
