import type { Outcome } from "../errors.ts";
import type { ApiRequest } from "./build-request.ts";
import type { ClientState, ConsentWatch } from "./client-state.ts";
import type { Fetch } from "./fetch.ts";
import type { CallFacts, Observer, Tracing } from "./observer.ts";
import type { IsRateLimited } from "./rate-refusal.ts";

export type Handler = (context: RequestContext) => Promise<ApiResponse>;

/** One concern of a call, before, after or instead of the rest. */
export type Interceptor = (next: Handler) => Handler;

export function compose(interceptors: readonly Interceptor[], handler: Handler): Handler {
  return interceptors.reduceRight((next, intercept) => intercept(next), handler);
}

export type ResponseHead = Pick<Response, "status" | "headers">;

export interface BodyText {
  readonly text: string;
  /** The limit in bytes at which the body was cut; missing if it is complete. */
  readonly limitPassed?: number | undefined;
  /** Why the body broke off; `text` is the part before. */
  readonly failure?: unknown;
}

/** A response, read to its end or to the size limit. */
export interface ReceivedResponse extends ResponseHead, BodyText {
  readonly isOk: boolean;
  readonly url: string;
}

export interface ApiResponse {
  readonly data: unknown;
  readonly response: ReceivedResponse;
}

/** The identity and the state of a call; also of a call with invalid input. */
export interface CallContext {
  readonly facts: CallFacts;
  options: CallSettings | undefined;
  attempts: number;
  /** Time that the call waited in the client, in milliseconds. */
  queuedMs: number;
  outcome: Outcome;
  uniqueIdentifier: string | undefined;
  /** Aborted, with an `AudienceError`, when the caller no longer waits. */
  readonly abort: AbortController;
  /** Aborted, with an `AudienceError`, when the call must stop waiting: then, and when its client is closed. */
  readonly stopWaiting: AbortController;
}

/** The state of a call over its interceptors. Each writes only its own part. */
export interface RequestContext extends CallContext {
  readonly client: ClientState;
  readonly settings: TransportSettings;
  options: CallSettings;
  readonly access: FamilyAccess;
  readonly request: ApiRequest;
  /** Whether it may be executed twice: by its options, else by its input. */
  readonly isRepeatable: boolean;
  /** On the clock of `performance.now()`. */
  readonly deadlineAt: number;
  /** `changed`: a different key after a 401, for the next attempt. */
  readonly apiKey: { current: string; changed?: string | undefined; isRefreshed?: boolean };
  /** The request was sent, and its response has not been read to the end. */
  isInFlight?: boolean;
  /** Its response has been decoded: an abort comes too late. */
  isDone?: boolean;
  /** It lost its permit to a 429 or a pause: it goes to the front of the queue. */
  isRequeued?: boolean;
  /** Its place in the queue of the rate limit, taken before it waited for an earlier write to its contact. */
  place?: number | undefined;
  /** It was to be retried, and had to stop waiting instead. */
  isCutOff?: boolean;
  /** Called with the response head, before the body is read. */
  onHead?: (head: ResponseHead) => void;
  /** Waits for work while the call has its permit. Work that takes long, or needs a permit itself, goes on without it. */
  holdPermit: (work: Promise<void>) => Promise<void>;
}

export type KeySource = () => string | Promise<string>;

/** The URL and the authentication of one family ("Authentication"). */
export interface FamilyAccess {
  readonly baseUrl: string;
  readonly key: KeySource;
  /** The header that carries the key, and the other headers of the family. */
  readonly keyHeader: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The validated options of a call, over those of the client. */
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
  /** All given options, for an endpoint with additional ones. */
  readonly given: Readonly<Record<string, unknown>>;
}

/**
 * Interceptors and state that another part of the package adds to a call. Such a call waits for the rate limit however
 * often it is refused, and keeps its own position in the queue.
 */
export interface CallExtension {
  /** Ends a waiting call; a request in flight continues to its end. */
  readonly stop: AbortSignal;
  /** Generates the id of an event without one. */
  readonly newEventId: (eventName: string) => string;
  /** Called when a write begins, with its result and the promise of its caller, which derives from it. */
  readonly onWrite: (result: Promise<unknown>, promise: Promise<unknown>) => void;
  readonly aroundCall: Interceptor;
  /** Around each attempt, once it has its permit and its key. */
  readonly aroundAttempt: Interceptor;
  /** Is not notified of the extension's own writes. */
  readonly consentWatch: ConsentWatch;
}

export interface TransportSettings {
  readonly call: CallSettings;
  readonly maxResponseBytes: number;
  readonly maxQueued: number | undefined;
  readonly isRateLimited: IsRateLimited | undefined;
  readonly fetch: Fetch | undefined;
  readonly observer: Observer;
  readonly callTracing: Tracing | undefined;
  readonly requestTracing: Tracing | undefined;
}

const severity: readonly Outcome[] = ["not-sent", "not-applied", "unknown", "applied"];

/** Raises the call's outcome to that of an attempt. A read changes nothing, so it is at worst not applied. */
export function recordOutcome(context: CallContext, outcome: Outcome): void {
  const seen = context.facts.method === "GET" && outcome === "unknown" ? "not-applied" : outcome;
  if (severity.indexOf(seen) > severity.indexOf(context.outcome)) context.outcome = seen;
}
