import * as z from "zod";
import { ClientClosedError, type Outcome } from "../errors.ts";
import type { RateLimiter } from "../rate-limiter/rate-limiter.ts";
import { optionTypes, parseOptions } from "../schema/parse-options.ts";
import { startTimer } from "./abort.ts";
import type { ConsentWrite } from "./consent.ts";
import type { Redactor } from "./redact.ts";

/** Is notified of every write of a client that states a consent. */
export interface ConsentWatch {
  /** Before the write is sent; it waits for the promise. At once for a write under way, which does not wait. */
  begins(write: ConsentWrite): Promise<void>;
  /** The outcome of the write, before the next write to the same contact begins; `applied`, as the response names it. */
  ended(write: ConsentWrite, outcome: Outcome, applied?: ConsentWrite): void;
}

/** The state that all views of one client share. The limiter's round robin counts it as one client. */
export interface ClientState {
  readonly limiter: RateLimiter | undefined;
  readonly redactor: Redactor;
  /** For each contact with a pending write: the end of the last one. */
  readonly lastWrites: Map<string, Promise<void>>;
  readonly consentWatches: Set<ConsentWatch>;
  /** The writes that state a consent, from their begin to their end. */
  readonly consentWrites: Set<ConsentWrite>;
  /** The pending calls and their results. */
  readonly underWay: Map<{ readonly stopWaiting: AbortController }, Promise<unknown>>;
  /** The requests of aborted calls that have not ended. */
  readonly background: Set<Promise<unknown>>;
  /** Aborted by `close()`. */
  readonly closing: AbortController;
  /** The default options of calls while a row's function runs. */
  ambientOptions: object | undefined;
}

export function createClientState(limiter: RateLimiter | undefined, redactor: Redactor): ClientState {
  return {
    limiter,
    redactor,
    lastWrites: new Map(),
    consentWatches: new Set(),
    consentWrites: new Set(),
    underWay: new Map(),
    background: new Set(),
    closing: new AbortController(),
    ambientOptions: undefined,
  };
}

/** Runs a function: the calls that it starts synchronously get these options by default. */
export function withAmbientOptions<T>(client: ClientState, options: object, run: () => T): T {
  client.ambientOptions = options;
  try {
    return run();
  } finally {
    client.ambientOptions = undefined;
  }
}

/** Notifies a watch of consent writes, also of those under way, until the returned function is called. */
export function watchConsent(
  { consentWatches, consentWrites }: ClientState,
  watch: ConsentWatch,
): () => void {
  consentWatches.add(watch);
  for (const write of consentWrites) void watch.begins(write);
  return () => void consentWatches.delete(watch);
}

/** `close()` waits for the request of an aborted call too. */
export function leaveInBackground({ background }: ClientState, request: Promise<unknown>): void {
  background.add(request);
  void Promise.allSettled([request]).then(() => background.delete(request));
}

/** Options of `close()`. */
export interface CloseOptions {
  /**
   * Whether the calls that wait are sent first, retries included. Default: no; they reject. A run of `bulk` ends in any
   * case: its rows that wait are not sent.
   */
  drain?: boolean | undefined;
  /**
   * The longest time for that, in milliseconds: the calls that still wait then reject. Requests in flight end, or pass
   * their own `timeoutMs`. Default: none.
   */
  timeoutMs?: number | undefined;
}

const closeOptionsSchema = z
  .strictObject({ drain: optionTypes.boolean, timeoutMs: optionTypes.durationMs })
  .partial() satisfies z.ZodType<CloseOptions>;

/** Takes no new call, rejects those that wait, at once or after the drain, and resolves when all have ended, and their requests. */
export async function closeClient(
  { background, closing, underWay }: ClientState,
  options: CloseOptions = {},
): Promise<void> {
  const { drain = false, timeoutMs = Infinity } = parseOptions(
    closeOptionsSchema,
    options,
    "The options of close",
  );
  closing.abort();
  const stopWaiting = () => {
    for (const call of underWay.keys()) call.stopWaiting.abort(new ClientClosedError());
  };
  if (!drain) stopWaiting();
  const timer = startTimer(stopWaiting, drain ? timeoutMs : Infinity);
  await Promise.allSettled(underWay.values());
  clearTimeout(timer);
  await Promise.allSettled(background);
}
