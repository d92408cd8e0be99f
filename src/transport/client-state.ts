import { ClientClosedError, type Outcome } from "../errors.ts";
import type { RateLimiter } from "../rate-limiter/rate-limiter.ts";
import type { ConsentWrite } from "./consent.ts";
import type { Redactor } from "./redact.ts";

/** Told of every write of a client that states a consent. */
export interface ConsentWatch {
  /** From now on the write may be carried out. The write waits for it. */
  begins(write: ConsentWrite): Promise<void>;
  /** What the write came to, before the next write to the same contact begins. */
  ended(write: ConsentWrite, outcome: Outcome): void;
}

/** What all views of one client share. To the limiter it is the client whose calls take turns with those of others. */
export interface ClientState {
  readonly limiter: RateLimiter | undefined;
  readonly redactor: Redactor;
  /** Of each contact with a write under way: the end of the last one. */
  readonly lastWrites: Map<string, Promise<void>>;
  readonly consentWatches: Set<ConsentWatch>;
  /** The calls under way, and their results. */
  readonly underWay: Map<{ readonly stopWaiting: AbortController }, Promise<unknown>>;
  /** Aborted by `close()`. */
  readonly closing: AbortController;
  /** The options that calls take along which name none of their own, while a row's function runs. */
  ambientOptions: unknown;
}

export function createClientState(limiter: RateLimiter | undefined, redactor: Redactor): ClientState {
  return {
    limiter,
    redactor,
    lastWrites: new Map(),
    consentWatches: new Set(),
    underWay: new Map(),
    closing: new AbortController(),
    ambientOptions: undefined,
  };
}

/** Runs a function: what it calls before it first waits takes these options along, also where it was given none. */
export function withAmbientOptions<T>(client: ClientState, options: unknown, run: () => T): T {
  client.ambientOptions = options;
  try {
    return run();
  } finally {
    client.ambientOptions = undefined;
  }
}

/** Lets a watch be told of writes of consent, until the function that it gives is called. */
export function watchConsent({ consentWatches }: ClientState, watch: ConsentWatch): () => void {
  consentWatches.add(watch);
  return () => void consentWatches.delete(watch);
}

/** Rejects what waits, and resolves when what is in flight has ended. */
export async function closeClient({ closing, underWay }: ClientState): Promise<void> {
  closing.abort();
  for (const { stopWaiting } of underWay.keys()) stopWaiting.abort(new ClientClosedError());
  await Promise.allSettled(underWay.values());
}
