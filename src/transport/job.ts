import type { ConsentWrite } from "../consent.ts";
import type { Endpoint } from "../endpoint.ts";
import type { PreparedRequest } from "./build-request.ts";
import type { CallKey } from "./call-key.ts";
import type { CallSettings } from "./call-options.ts";
import type { Call } from "./call.ts";
import type { KeySource } from "./key-source.ts";
import type { Observer } from "./observer.ts";
import type { Redactor } from "./redact.ts";
import type { Fetch } from "./send.ts";

/** What the transport needs to know, once. */
export interface TransportSettings {
  /** What a call's own options come on top of. */
  readonly call: CallSettings;
  readonly maxResponseBytes: number;
  readonly maxQueued: number | undefined;
  readonly fetch: Fetch | undefined;
  readonly observer: Observer;
  readonly redactor: Redactor;
  readonly newId: () => string;
  /** From 0 to 1. */
  readonly random: () => number;
  /** Milliseconds, monotonic. */
  readonly now: () => number;
}

/** How one family is reached ("Authentication"). */
export interface FamilyAccess {
  readonly baseUrl: string;
  readonly key: KeySource;
  readonly authenticate: (key: string) => Record<string, string>;
}

/** All that the attempts of one call have in common. */
export interface Job<Body, Output> {
  readonly call: Call;
  readonly access: FamilyAccess;
  readonly endpoint: Endpoint<Body, Output>;
  readonly request: PreparedRequest<Body>;
  readonly settings: CallSettings;
  readonly key: CallKey;
  /** Whether the service ends in the same state when the call is carried out twice. */
  readonly isRepeatable: boolean;
  /** The names of the contacts that it writes to. */
  readonly contacts: readonly string[];
  /** The consent that it writes, and of whom; undefined for a call that carries none. */
  readonly consentWrite: ConsentWrite | undefined;
  /** When the whole call is over, on the clock of `now`. */
  readonly deadlineAt: number;
}
