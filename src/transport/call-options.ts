import type { ConsentWrite } from "../consent.ts";
import type { Outcome } from "../errors.ts";
import { readGuarded, readOptions, type OptionRule } from "../option-checks.ts";
import { readHeaders } from "./request-headers.ts";
import { rules } from "../option-rules.ts";
import type { ConsentWatch } from "./consent-watch.ts";
import { isPlain, isRecord } from "../is-object.ts";

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

const allowed = {
  signal: rules.signal,
  timeoutMs: rules.durationMs,
  deadlineMs: rules.durationMs,
  maxRetries: rules.count,
  maxWaitMs: rules.waitMs,
  priority: rules.priority,
  headers: rules.object,
  repeatable: rules.boolean,
};

/** The options of a call that a row's function makes: they take the row's `request` along, also where it was not handed on. */
export function withRowOptions(options: unknown, rowOptions: CallOptions | undefined): unknown {
  if (rowOptions === undefined) return options;
  if (options === undefined) return rowOptions;
  const isOwn = isRecord(options) && isPlain(options) && !(companionOption in options);
  return isOwn ? { ...rowOptions, ...options } : options;
}

type Given<Options> = { readonly [Name in keyof Options]?: Exclude<Options[Name], undefined> };

/** Throws a `ConfigurationError` that names the option. */
export function readCallOptions(
  options: unknown,
  defaults: CallSettings,
  own: Readonly<Record<string, OptionRule>> = {},
): CallSettings {
  if (options === undefined) return defaults;
  const given = readOptions(options, { ...allowed, ...own }, "The call's options");
  // The rules have found each value to be what CallOptions says, and none of them is undefined.
  const o = given as Given<CallOptions>;
  return {
    ...defaults,
    ...o,
    headers: o.headers ? { ...defaults.headers, ...readHeaders(o.headers) } : defaults.headers,
    // Only a bulk run writes this property.
    companion: readGuarded(
      "The call's options",
      () => (options as { [companionOption]?: Companion })[companionOption],
    ),
    given,
  };
}
