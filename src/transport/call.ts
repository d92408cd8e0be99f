// The central types: a call, its settings, its request and its response, and the end of an attempt.
import type { ConsentWrite } from "../consent.ts";
import type { Method, Operation, ParsedResponse } from "../endpoint.ts";
import type {
  AuthenticationError,
  AudienceError,
  Outcome,
  RateLimitError,
  RateLimitWaitError,
} from "../errors.ts";
import type { ClientState } from "./client-state.ts";
import type { Fetch } from "./fetch.ts";
import type { CallFacts, Observer } from "./observer.ts";
import type { IsRateLimited } from "./rate-refusal.ts";
import type { Tracing } from "./tracing.ts";

/** What errors, hooks and channels tell of a call: its identity, its costs and its outcome. An invalid call has one, too. */
export interface CallReport {
  readonly facts: CallFacts;
  uniqueIdentifier: string | undefined;
  attempts: number;
  /** Time that the call waited in the client, in milliseconds. */
  queuedMs: number;
  outcome: Outcome;
}

/** A valid call that is not sent yet. */
export interface PreparedCall {
  readonly operation: Operation;
  readonly access: FamilyAccess;
  readonly options: CallSettings;
  readonly request: ApiRequest;
  /** Whether it may be executed twice: by its options, else by its input. */
  readonly isRepeatable: boolean;
}

/** A valid call: what it sends, with what options, and what ends it. */
export interface Call extends PreparedCall {
  /** What the next attempt sends: the gate may make it anew. */
  request: ApiRequest;
  isRepeatable: boolean;
  readonly report: CallReport;
  readonly client: ClientState;
  readonly settings: TransportSettings;
  /** On the clock of `performance.now()`. */
  readonly deadlineAt: number;
  /** Of a call that bulk makes; undefined for a call of the user. */
  readonly gate: Gate | undefined;
  /** Aborted, with an `AudienceError`, when the caller no longer waits. */
  readonly abort: AbortController;
  /** Aborted, with an `AudienceError`, when the call must stop waiting: then, and when its client is closed. */
  readonly stopWaiting: AbortController;
  /** Its position in the queue of the rate limit, taken before it waited for an earlier write. */
  position: number | undefined;
  /** Its response has been decoded: an abort comes too late. */
  isComplete: boolean;
}

/** A request without its key, which is requested before each attempt. Every attempt sends the same bytes. */
export interface ApiRequest {
  readonly method: Method;
  /** The template, for messages: an id in the real path may be an e-mail address. */
  readonly path: string;
  /** The real path, with its query. */
  readonly target: string;
  readonly body: string | undefined;
  readonly uniqueIdentifier: string | undefined;
  readonly isRepeatable: boolean;
  /** The keys of the contacts that it writes to. */
  readonly contacts: readonly string[];
  /** Undefined for a call without consent. */
  readonly consentWrite: ConsentWrite | undefined;
  /** The write as the response shows it: with further keys of the contact, and the service's decision. */
  readonly appliedConsent: (stated: ConsentWrite, data: unknown) => ConsentWrite;
  readonly acceptsText: ((contentType: string) => boolean) | undefined;
  /** The id in the path, and what may have been meant by it, for the error of a 404. */
  readonly pathId: { readonly id: string; readonly hint: string } | undefined;
  readonly mayHaveWrittenOn404: boolean;
  /** Throws `UndecodableResponse` if a required part is missing. */
  readonly decode: (parsed: ParsedResponse) => unknown;
}

/** The first half of a response. */
export type ResponseHead = Pick<Response, "status" | "headers">;

/** A request whose response has begun. `read` must be called: it reads the rest, and ends the timers. */
export interface SentRequest {
  readonly head: ResponseHead;
  readonly read: () => Promise<ReceivedResponse>;
}

/** The text of a body, whole or in part. */
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

/** A response and its decoded value. */
export interface ApiResponse {
  readonly data: unknown;
  readonly response: ReceivedResponse;
}

/** How an attempt that gave no value ended: `retry-plan.ts` says what follows. */
export type FailedEnd =
  /** The limiter gave no permit. */
  | { readonly kind: "no-permit"; readonly error: RateLimitWaitError }
  /** The service refused the call for its rate. */
  | { readonly kind: "refused"; readonly error: RateLimitError }
  /** A 401, and the key function now gives another key. */
  | { readonly kind: "new-key"; readonly error: AuthenticationError; readonly key: string }
  /** Any other failure of the call. */
  | { readonly kind: "failed"; readonly error: AudienceError };

/** How an attempt ended. */
export type AttemptEnd = { readonly kind: "response"; readonly response: ApiResponse } | FailedEnd;

/** Gives a family's key. Closures, so that no `inspect` shows it. */
export interface KeySource {
  readonly request: () => string | Promise<string>;
  /** Whether it was given this key, or this key function. */
  readonly wasGiven: (key: unknown) => boolean;
  /** The key, or the last one that the function gave. */
  readonly last: () => string | undefined;
  /** Whether both were given the same key or key function, or gave the same key last. */
  readonly isSameAs: (other: KeySource) => boolean;
}

/** By what a client is known to belong to an organization of the service. */
export interface FamilyIdentity {
  readonly name: "v1" | "v2";
  readonly baseUrl: string;
  readonly key: KeySource;
}

/** The URL and the authentication of one family ("Authentication"). */
export interface FamilyAccess extends FamilyIdentity {
  /** The header that carries the key, and the other headers of the family. */
  readonly keyHeader: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Is notified of the writes of this process that state a consent, of its own organization. */
export interface ConsentListener {
  /** Whether a write of a client with these families may be one of its organization. */
  concerns(families: readonly FamilyIdentity[]): boolean;
  /** Before the write is sent; it waits for the promise. At once for a write under way, which does not wait. */
  begins(write: ConsentWrite, families: readonly FamilyIdentity[]): Promise<void>;
  /** The outcome of the write; its caller waits for the promise. `applied`: the write as the response names it. */
  ended(write: ConsentWrite, outcome: Outcome, applied?: ConsentWrite): Promise<void>;
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
  /** All given options, for an endpoint with additional ones. */
  readonly given: Readonly<Record<string, unknown>>;
}

/**
 * How bulk takes part in its calls. Such a call waits for the rate limit however often it is refused, and keeps its own
 * position in the queue.
 */
export interface Gate {
  /** Ends a waiting call; a request in flight continues to its end. */
  readonly stop: AbortSignal;
  /** Is not notified of the call's consent. */
  readonly listener?: ConsentListener | undefined;
  /** Before each attempt, once it has its permit, for a second, and its key. Rejects if it must not be sent. */
  readonly enter: (call: Call) => Promise<void>;
  /** Directly before the attempt is sent, with no wait in between: false if it must enter again. */
  readonly isOpen: () => boolean;
}

/** The settings of a client that its calls use. */
export interface TransportSettings {
  /** The families that the client has. */
  readonly families: readonly FamilyIdentity[];
  readonly call: CallSettings;
  readonly maxResponseBytes: number;
  readonly maxQueued: number | undefined;
  readonly isRateLimited?: IsRateLimited | undefined;
  readonly fetch?: Fetch | undefined;
  readonly observer: Observer;
  readonly callTracing: Tracing | undefined;
  readonly requestTracing: Tracing | undefined;
}

const severity: readonly Outcome[] = ["not-sent", "not-applied", "unknown", "applied"];

/** The outcome of two writes together. */
export function severer(one: Outcome, other: Outcome): Outcome {
  return severity.indexOf(other) > severity.indexOf(one) ? other : one;
}

/** Raises the call's outcome to that of an attempt. A read changes nothing, so it is at worst not applied. */
export function recordOutcome(report: CallReport, outcome: Outcome): void {
  const seen = report.facts.method === "GET" && outcome === "unknown" ? "not-applied" : outcome;
  report.outcome = severer(report.outcome, seen);
}
