import type { Outcome } from "../errors.ts";
import type { ClientState, ConsentWatch } from "./client-state.ts";
import type { CallFacts, Observer, Tracing } from "./observer.ts";
import type { ApiRequest } from "./request.ts";
import type { ApiResponse } from "./response.ts";
import type { Fetch, ResponseHead } from "./send.ts";

/** The rest of a call: the interceptors that follow, and the request itself. */
export type Handler = (context: RequestContext) => Promise<ApiResponse>;

/** One concern of a call: what it does before, after or instead of the rest. */
export type Interceptor = (next: Handler) => Handler;

/** The first interceptor is the outermost. */
export function compose(interceptors: readonly Interceptor[], handler: Handler): Handler {
  return interceptors.reduceRight((next, intercept) => intercept(next), handler);
}

/** Which call it is, and how it stands; also of one whose input is invalid. */
export interface CallContext extends CallFacts {
  options: CallSettings | undefined;
  /** Requests that left, or tried to. */
  attempts: number;
  /** Spent waiting on this side, in milliseconds. */
  queuedMs: number;
  /** What all attempts so far have done. */
  outcome: Outcome;
  uniqueIdentifier: string | undefined;
  /** Aborted, with an error of ours, when nobody waits for the call any more. */
  readonly abort: AbortController;
  /** Aborted, with an error of ours, when the call must not wait any more: then, and when its client is closed. */
  readonly stopWaiting: AbortController;
}

/** All that a call carries along. Each interceptor reads what it needs and writes what is its own. */
export interface RequestContext extends CallContext {
  readonly client: ClientState;
  readonly settings: TransportSettings;
  options: CallSettings;
  readonly access: FamilyAccess;
  readonly request: ApiRequest;
  /** Whether it may be carried out twice: by its input, unless its options say so. */
  readonly isRepeatable: boolean;
  /** On the clock of `settings.now`. */
  readonly deadlineAt: number;
  readonly apiKey: KeyState;
  /** The request has left, and its response has not been read to the end. */
  isInFlight: boolean;
  /** Its response has been read and decoded: what comes now to abort the call comes too late. */
  isDone: boolean;
  /** It had a permit, and was refused or held back by a pause: it goes first when the limiter's pause ends. */
  isRequeued: boolean;
  /** Told of a response before its body is read. */
  onHead: (head: ResponseHead) => void;
}

/** Gives the key for the attempt at hand. Rejects with a `ConfigurationError` if the function fails or gives no key. */
export type KeySource = () => string | Promise<string>;

/** How one family is reached ("Authentication"). */
export interface FamilyAccess {
  readonly baseUrl: string;
  readonly key: KeySource;
  readonly authenticate: (key: string) => Record<string, string>;
}

/** The key over the attempts of a call. */
interface KeyState {
  /** Of the attempt at hand. */
  current: string;
  /** A different one, given after a 401, for the next attempt. */
  changed?: string | undefined;
  wasRequestedAgain?: boolean;
}

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
  readonly extension?: CallExtension | undefined;
  /** All that were given, for an endpoint that has options of its own. */
  readonly given: Readonly<Record<string, unknown>>;
}

/**
 * What another part of the package adds to a call. Such a call waits for the rate limit however often it is refused, in
 * its own place of the queue.
 */
export interface CallExtension {
  /** Aborted, the call leaves where it waits; a request in flight is seen through to its end. */
  readonly stop: AbortSignal;
  /** For an event without an id of its own. */
  readonly newEventId: () => string;
  /** Told of a write as it begins: its result, and the promise for its caller, which is made of that. */
  readonly onWrite: (result: Promise<unknown>, given: Promise<unknown>) => void;
  readonly aroundCall: Interceptor;
  /** Around each attempt, once it has its permit and its key. */
  readonly aroundAttempt: Interceptor;
  /** Not told of the extension's own writes. */
  readonly consentWatch: ConsentWatch;
}

/** What the transport needs to know, once. */
export interface TransportSettings {
  /** A call's own options come on top of these. */
  readonly call: CallSettings;
  readonly maxResponseBytes: number;
  readonly maxQueued: number | undefined;
  readonly fetch: Fetch | undefined;
  readonly observer: Observer;
  readonly callTracing: Tracing | undefined;
  readonly requestTracing: Tracing | undefined;
  readonly newId: () => string;
  /** From 0 to 1. */
  readonly random: () => number;
  /** Milliseconds, monotonic. */
  readonly now: () => number;
}

const severity: readonly Outcome[] = ["not-sent", "not-applied", "unknown", "applied"];

/** Adds what one attempt did to what its call did. A read changes nothing, so it is never worse than not applied. */
export function recordOutcome(context: CallContext, outcome: Outcome): void {
  const seen = context.method === "GET" && outcome === "unknown" ? "not-applied" : outcome;
  if (severity.indexOf(seen) > severity.indexOf(context.outcome)) context.outcome = seen;
}
