// The central types: a call, what it sends, and its response.
import type { ConsentWrite } from "../consent.ts";
import type { Endpoint } from "../endpoint.ts";
import type { Outcome } from "../errors.ts";
import type { FamilyAccess, FamilyIdentity } from "./api-key.ts";
import type { CallSettings } from "./call-options.ts";
import type { CallContext } from "./call-outcome.ts";
import type { ClientState } from "./client-state.ts";
import type { Fetch } from "./fetch-types.ts";
import type { Observer } from "./observer.ts";
import type { IsRateLimited } from "./rate-refusal.ts";
import type { TracingChannel } from "./tracing.ts";

/** A valid call that is not sent yet, without its key, which is requested before each attempt. Every attempt sends the same bytes. */
export interface PreparedCall {
  readonly endpoint: Endpoint<unknown, unknown>;
  readonly access: FamilyAccess;
  readonly options: CallSettings;
  readonly params: Readonly<Record<string, unknown>>;
  /** The body before it becomes JSON. */
  readonly sent: unknown;
  /** The path, with its query. */
  readonly target: string;
  readonly body: string | undefined;
  readonly uniqueIdentifier: string | undefined;
  /** Whether the call may be executed twice: by its options, else by its input. */
  readonly isRepeatable: boolean;
  /** The keys of the contacts that the call writes to. */
  readonly contacts: readonly string[];
  /** What the call states of its contacts; empty for a call without consent. */
  readonly consents: readonly ConsentWrite[];
}

/** A valid call: what it sends, with what options, and what ends it. */
export interface Call {
  readonly context: CallContext;
  readonly client: ClientState;
  readonly settings: TransportSettings;
  readonly options: CallSettings;
  /** The call's deadline, on the clock of `performance.now()`. */
  readonly deadlineAt: number;
  /** The gate of a call that bulk makes; undefined for a call of the user. */
  readonly gate: Gate | undefined;
  /** Aborted, with an `AudienceError`, when the call must stop waiting: its caller has left, or its client is closed. */
  readonly stop: AbortController;
  /** What the next attempt sends: the gate may make it anew. */
  request: PreparedCall;
  /** The call's position in the queue of the rate limit, taken before it waited for an earlier write. */
  position: number | undefined;
  /** The call's response has been decoded: its caller cannot leave any more. */
  isComplete: boolean;
  /** Aborted, with the error of the call, when its caller leaves. */
  readonly left: AbortController;
  /** The outcome of the call, should its caller leave now; undefined while no request is in flight. */
  inFlight: Outcome | undefined;
}

/** Sends a call: a layer of the transport, with those below it. */
export type Send = (call: Call) => Promise<ApiResponse>;

/** The first half of a response. */
export type ResponseHead = Pick<Response, "status" | "headers">;

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
  readonly response: Pick<ReceivedResponse, "status" | "headers" | "url">;
}

/** Is notified of the writes of this process that state a consent, of its own organization. */
export interface ConsentListener {
  /** Whether a write of a client with these families may be one of its organization. */
  concerns(families: readonly FamilyIdentity[]): boolean;
  /** Called before a write is sent, which waits for the promise; at once for a write under way, which does not wait. */
  begins(writes: readonly ConsentWrite[], families: readonly FamilyIdentity[]): Promise<void>;
  /** The outcome of the write; its caller waits for the promise. `applied`: the write as the response names it. */
  ended(writes: readonly ConsentWrite[], outcome: Outcome, applied?: readonly ConsentWrite[]): Promise<void>;
}

/**
 * How bulk takes part in its calls. Such a call waits for the rate limit however often it is refused, and keeps its own
 * position in the queue.
 */
export interface Gate {
  /** Ends a waiting call; a request in flight continues to its end. */
  readonly stop: AbortSignal;
  /** The listener that is not notified of the call's consent. */
  readonly listener?: ConsentListener | undefined;
  /** Called before each attempt, once it has its permit, for a second, and its key. Rejects if it must not be sent. */
  readonly enter: (call: Call) => Promise<void>;
  /** Asked directly before the attempt is sent, with no wait in between: false if it must enter the gate again. */
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
  /** The channels, while anyone listens. */
  readonly callTracing: () => TracingChannel | undefined;
  readonly requestTracing: () => TracingChannel | undefined;
}
