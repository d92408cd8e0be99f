import * as z from "zod";
import type { ConsentWrite } from "../consent.ts";
import type { Outcome } from "../errors.ts";
import { isRecord } from "../schema/kind-of.ts";
import { optionTypes, optionThat, parseOptions, type Given } from "../schema/option.ts";
import type { ConsentWatch } from "./consent-watch.ts";
import { readHeaders } from "./request-headers.ts";

/** Options of one call; each stands in the place of the client's. */
export interface CallOptions {
  /** Aborts the call at once, wherever it is: queue, backoff, flight or body. */
  signal?: AbortSignal | undefined;
  /** One attempt, from sending to the last body byte, in milliseconds. Default 30,000. */
  timeoutMs?: number | undefined;
  /** The whole call: queue, attempts and backoff, in milliseconds. Default: none. */
  deadlineMs?: number | undefined;
  /** Attempts after the first. Default 4. */
  maxRetries?: number | undefined;
  /** The longest wait for the rate limit, in milliseconds; a call that would wait longer fails at once. Default: none. */
  maxWaitMs?: number | undefined;
  /** Who goes first when calls wait: 0 (first) to 9 (last). Default 5. */
  priority?: number | undefined;
  /** Further headers. They cannot override the authentication. */
  headers?: Readonly<Record<string, string>> | Headers | undefined;
  /** Whether the call may be carried out twice, where you know better than the retry table. */
  repeatable?: boolean | undefined;
}

/** How a bulk run takes part in the calls of a row: carried by the `request` that the run hands out. */
export interface Companion {
  /** Aborted, the call leaves where it waits; what is in flight is seen through to its end. */
  readonly stop: AbortSignal;
  /** For an event without an id of its own: the same after a restart. */
  readonly newEventId: () => string;
  /** A write of the row has begun: its result, and what its caller is given, which is made of that. */
  readonly began: (result: Promise<unknown>, given: Promise<unknown>) => void;
  /** The row's own run, which does not supersede its own rows. */
  readonly run: ConsentWatch;
  /** Resolves when an attempt may be sent: by then it is recorded that it may have been. Rejects where it is superseded. */
  readonly beforeSend: (call: object, attempt: RowAttempt) => Promise<void>;
  /** Throws where the row is superseded: the last look, right before an attempt is sent. */
  readonly checkConsent: (attempt: RowAttempt) => void;
  /** What a write of the row came to, over all its attempts. */
  readonly ended: (call: object, outcome: Outcome, consentWrite: ConsentWrite | undefined) => void;
}

/** What a run needs to know of an attempt of one of its rows. */
export interface RowAttempt {
  readonly isRepeatable: boolean;
  readonly isWrite: boolean;
  /** The consent that it states, and of whom; undefined for a call that carries none. */
  readonly consentWrite: ConsentWrite | undefined;
}

/** Registered, so that both module formats know it. Not a name: only a run can hand one out. */
export const companionOption = Symbol.for("audience-sdk.companion");

/** A call's options, checked, over the client's. */
export interface CallSettings {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs: number;
  readonly deadlineMs: number;
  readonly maxRetries: number;
  readonly maxWaitMs: number | undefined;
  readonly priority: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly repeatable?: boolean | undefined;
  readonly companion?: Companion | undefined;
  /** All that were given, for an endpoint that has options of its own. */
  readonly given: Readonly<Record<string, unknown>>;
}

export const headersOption = optionThat<Readonly<Record<string, string>> | Headers>("an object", isRecord);

/** What `CallOptions` says. */
export const callOptionsSchema = z
  .strictObject({
    signal: optionTypes.signal,
    timeoutMs: optionTypes.durationMs,
    deadlineMs: optionTypes.durationMs,
    maxRetries: optionTypes.count,
    maxWaitMs: optionTypes.waitMs,
    priority: optionTypes.priority,
    headers: headersOption,
    repeatable: optionTypes.boolean,
  })
  .partial() satisfies z.ZodType<CallOptions>;

/** The options of a call that a row's function makes: they take the row's `request` along, also where it was not handed on. */
export function withRowOptions(options: unknown, rowOptions: CallOptions | undefined): unknown {
  if (rowOptions === undefined) return options;
  if (options === undefined) return rowOptions;
  const isOwn = isRecord(options) && !(companionOption in options);
  return isOwn ? { ...rowOptions, ...options } : options;
}

/** Throws a `ConfigurationError` that names the option. */
export function readCallOptions(
  options: unknown,
  defaults: CallSettings,
  schema: z.ZodObject = callOptionsSchema,
): CallSettings {
  if (options === undefined) return defaults;
  const given = parseOptions(schema, options, "The call's options");
  // Safe: the schema of an endpoint is that of any call, and more.
  const o: Given<CallOptions> = given;
  return {
    ...defaults,
    ...o,
    headers: o.headers ? { ...defaults.headers, ...readHeaders(o.headers) } : defaults.headers,
    // Only a bulk run writes this property.
    companion: (options as { [companionOption]?: Companion })[companionOption],
    given,
  };
}
