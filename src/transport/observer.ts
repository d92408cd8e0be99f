import type { Operation } from "../endpoint.ts";
import type { AudienceError } from "../errors.ts";
import { isObject } from "../schema/kind-of.ts";
import type { CallFacts } from "./call.ts";
import { requestChannels, type RequestChannels } from "./request-channels.ts";

/**
 * What a hook is told: which call, which attempt, and how it went. No key, e-mail address, phone number or body;
 * `path` is the endpoint's template, as an id in a path may be an e-mail address.
 */
export interface RequestEvent {
  /** One per call, the same for all its attempts. */
  requestId: string;
  /** Which of the nine calls: `"v1.customers.upsert"`. */
  operation: Operation;
  /** The HTTP method. */
  method: string;
  /** The endpoint's template: `/api/v1/customer/{id}`. */
  path: string;
  /** From 1. */
  attempt: number;
  /** The answer's, where one came. */
  status?: number;
  /** From sending to the last body byte, in milliseconds. */
  durationMs?: number;
  /** The wait before the next attempt, or for the rate limit, in milliseconds. */
  waitMs?: number;
  /** The failure: its class, its `code`, and the status where there was an answer. */
  error?: { name: string; code: string; status?: number };
}

/** Called as it happens; what a hook throws is logged and changes nothing. */
export interface Hooks {
  /** An attempt leaves. */
  onRequest?: (event: RequestEvent) => void;
  /** An attempt was answered: with `status`, `durationMs`, and `error` where the answer is one. */
  onResponse?: (event: RequestEvent) => void;
  /** An attempt failed and another follows in `waitMs`: with `error`. */
  onRetry?: (event: RequestEvent) => void;
  /** A call waits more than ten seconds for the rate limit: with `waitMs`. */
  onThrottle?: (event: RequestEvent) => void;
}

/** `console`, pino and winston fit. Nothing is printed unless one is given. */
export interface Logger {
  /** Each attempt, wait and retry. */
  debug(message: string): void;
  /** Nothing yet. */
  info(message: string): void;
  /** A long wait, a shared store of the rate limit that is away, and what a hook threw. */
  warn(message: string): void;
  /** Nothing yet: what fails is thrown, not logged. */
  error(message: string): void;
}

/** The least serious line that is handed to the logger; `"silent"`: none. */
export type LogLevel = "debug" | "info" | "warn" | "error" | "silent";

export const logLevels: readonly LogLevel[] = ["debug", "info", "warn", "error", "silent"];

const longWaitMs = 10_000;

/** Tells hooks, logger and the diagnostics channel what happens. Costs next to nothing where nobody listens. */
export class Observer {
  readonly #hooks: Hooks;
  readonly #logger: Logger | undefined;
  readonly #lowest: number;
  readonly #now: () => number;
  readonly #channels: RequestChannels | undefined = requestChannels();
  #limitsAlone = false;

  constructor(options: { hooks: Hooks; logger: Logger | undefined; logLevel: LogLevel; now: () => number }) {
    this.#hooks = options.hooks;
    this.#now = options.now;
    this.#logger = options.logger;
    this.#lowest = options.logger ? logLevels.indexOf(options.logLevel) : Infinity;
  }

  /** One attempt. Gives back what is to be told of its end. */
  attempt(facts: CallFacts, attempt: number): AttemptEnd {
    const channels = this.#channels?.hasSubscribers ? this.#channels : undefined;
    const { onRequest, onResponse } = this.#hooks;
    if (!channels && !onRequest && !onResponse && !this.#logs("debug")) return nothing;
    const event: RequestEvent = { ...facts, attempt };
    this.#call("onRequest", event);
    this.#tell("debug", event, () => "is sent");
    channels?.start(event);
    const sentAt = this.#now();
    return (status, error) => {
      // What was given up is over for its caller, though its exchange goes on.
      if (event.durationMs !== undefined) return;
      const durationMs = this.#now() - sentAt;
      Object.assign(event, status && { status }, { durationMs }, error && { error: summary(error) });
      if (status) this.#call("onResponse", event);
      const how = status ? `was answered with ${status}` : `failed: ${error?.name}`;
      this.#tell("debug", event, () => `${how} in ${Math.round(durationMs)} ms`);
      channels?.end(event);
    };
  }

  retries(facts: CallFacts, attempt: number, waitMs: number, error: AudienceError): void {
    const event: RequestEvent = { ...facts, attempt, waitMs, error: summary(error) };
    this.#call("onRetry", event);
    this.#tell("debug", event, () => `is tried again in ${Math.round(waitMs)} ms, after ${error.name}`);
  }

  /** A wait for the rate limit, as it is expected; one that grows long is told of then. Gives back what ends it. */
  waits(facts: CallFacts, attempt: number, waitMs: number): () => void {
    const event: RequestEvent = { ...facts, attempt, waitMs };
    const isLong = waitMs > longWaitMs;
    if (isLong) this.#call("onThrottle", event);
    this.#tell(isLong ? "warn" : "debug", event, () => `waits ${Math.round(waitMs)} ms for the rate limit`);
    if (isLong || !(this.#hooks.onThrottle || this.#logs("warn"))) return nothing;
    const timer = setTimeout(() => this.waits(facts, attempt, longWaitMs + 1), longWaitMs + 1);
    return () => clearTimeout(timer);
  }

  waitsForContact(facts: CallFacts): void {
    this.#tell("debug", { ...facts, attempt: 1 }, () => "waits for an earlier write to the same contact");
  }

  /** The shared store of the rate limit is away, or here (undefined): a line each time it goes. */
  limitsAlone(absence: string | undefined): void {
    if (absence !== undefined && !this.#limitsAlone) this.warn(absence);
    this.#limitsAlone = absence !== undefined;
  }

  warn(message: string): void {
    if (this.#logs("warn")) this.#log("warn", message);
  }

  #call(name: keyof Hooks, event: RequestEvent): void {
    const hook = this.#hooks[name];
    if (!hook) return;
    const failed = () => this.warn(`the hook ${name} failed; this changes nothing`);
    try {
      // A copy, so that a hook that writes on it changes nothing.
      heedRejection(hook({ ...event, ...(event.error && { error: { ...event.error } }) }), failed);
    } catch {
      failed();
    }
  }

  #logs(level: LogLevel): boolean {
    return logLevels.indexOf(level) >= this.#lowest;
  }

  /** A line about an attempt, put into words only where it is wanted. */
  #tell(level: "debug" | "warn", { operation, attempt, requestId }: RequestEvent, what: () => string): void {
    if (this.#logs(level))
      this.#log(level, `${operation}, attempt ${attempt} (request ${requestId}) ${what()}`);
  }

  #log(level: Exclude<LogLevel, "silent">, message: string): void {
    try {
      const result: unknown = this.#logger?.[level](`audience-sdk: ${message}`);
      heedRejection(result, () => undefined);
    } catch {
      // A logger that throws must not fail the call, and there is nowhere left to say so.
    }
  }
}

/** With the answer's status, where there was an answer, and with the error, where there was one. Heard once. */
export type AttemptEnd = (status: number | undefined, error?: AudienceError) => void;

/** Where nobody listens, an attempt costs nothing to tell of. */
const nothing = (): void => {};

/** An async hook or logger may reject: unheard, that would end the process. Any thenable, as it may be another realm's. */
function heedRejection(result: unknown, onRejection: () => void): void {
  if (isObject(result) && "then" in result) Promise.resolve(result).catch(onRejection);
}

function summary(error: AudienceError): NonNullable<RequestEvent["error"]> {
  const { name, code } = error;
  return "status" in error && typeof error.status === "number"
    ? { name, code, status: error.status }
    : { name, code };
}
