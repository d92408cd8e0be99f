import type { Reply } from "./mock-endpoint.ts";
import type { MockRequest } from "./public-types.ts";
import type { StateChange } from "./state/changes.ts";
import type { MockVariants } from "./variants.ts";

/** A choice of the mock where the service document is silent. */
export interface Stance {
  variant: keyof MockVariants;
  value: string;
}

/** A request with what the mock did about it. */
export interface RequestRecord {
  /** Counts from 1. */
  readonly number: number;
  readonly entry: MockRequest;
  /** The version of the log when it was sent, if it took time to arrive. */
  readonly sentAt: number | undefined;
  /** What the request changed, in order. */
  readonly changes: StateChange[];
  readonly stances: Stance[];
  /** The id of the organization of its key. */
  organization?: string;
  /** The decoded id in its path; empty if the path has none. */
  id?: string;
  /** The service's own response, before a fault. Absent if a fault prevented it, and before it. Old ones are forgotten. */
  reply?: Reply | "forgotten";
  /** Counts the same request again after a failure; 1 for the first. */
  attempt: number;
  hasEnded: boolean;
}

type EndListener = (entry: MockRequest, changes: readonly StateChange[]) => void;
type ChangeListener = (change?: StateChange, record?: RequestRecord) => void;
type ArrivalListener = (record: RequestRecord) => void;

/** The replies of the latest requests are kept: pages of contacts are large. */
const KEPT_REPLIES = 500;

/** The record of all requests, and of what each of them changed. */
export class RequestLog {
  /** All requests since the last reset, in order of arrival. */
  readonly requests: MockRequest[] = [];
  readonly #records: RequestRecord[] = [];
  /** How often each request has failed since its last success, by its content. */
  readonly #failures = new Map<string, number>();
  readonly #endListeners = new Set<EndListener>();
  readonly #changeListeners = new Set<ChangeListener>();
  readonly #arrivalListeners = new Set<ArrivalListener>();
  #current: RequestRecord | undefined;
  #version = 0;

  /** Grows with all that a page could show: a request that arrives or ends, and each change of the state. */
  get version(): number {
    return this.#version;
  }

  /** One for each of the requests. */
  get records(): readonly RequestRecord[] {
    return this.#records;
  }

  /** A request has arrived. */
  begin(entry: MockRequest, sentAt?: number): RequestRecord {
    const number = this.#records.length + 1;
    const record: RequestRecord = {
      number,
      entry,
      sentAt,
      changes: [],
      stances: [],
      attempt: 1,
      hasEnded: false,
    };
    for (const listener of this.#arrivalListeners) listener(record);
    this.requests.push(entry);
    this.#records.push(record);
    const old = this.#records.at(-1 - KEPT_REPLIES);
    if (old?.reply) old.reply = "forgotten";
    this.#version += 1;
    return record;
  }

  /** The body of a request has arrived. */
  bodyArrived(record: RequestRecord, body: unknown): void {
    record.entry.body = body;
    record.attempt += this.#failures.get(contentOf(record.entry)) ?? 0;
  }

  /** Carries out a request: the changes meanwhile are its own. */
  carryOut(record: RequestRecord, respond: () => Reply): Reply {
    this.#current = record;
    try {
      return respond();
    } finally {
      this.#current = undefined;
    }
  }

  /** A request has its response, or its connection broke. */
  end(record: RequestRecord): void {
    record.hasEnded = true;
    // Unless a reset has forgotten it.
    if (this.#records[record.number - 1] === record) this.#countFailures(record);
    this.#version += 1;
    for (const listener of this.#endListeners) listener(record.entry, record.changes);
  }

  /** After a success the same request is a new one. */
  #countFailures({ entry, attempt }: RequestRecord): void {
    const { status, fault } = entry;
    const hasFailed = status === undefined || status >= 400 || fault !== undefined;
    if (hasFailed) this.#failures.set(contentOf(entry), attempt);
    else this.#failures.delete(contentOf(entry));
  }

  /** The state has changed: by the request that is carried out, if there is one, and if the change can be told. */
  changed(change?: StateChange): void {
    if (change !== undefined) this.#current?.changes.push(change);
    this.#version += 1;
    for (const listener of this.#changeListeners) listener(change, this.#current);
  }

  /** Forgets all requests. */
  clear(): void {
    this.requests.length = 0;
    this.#records.length = 0;
    this.#failures.clear();
    this.changed();
  }

  /** Called with each request just before it arrives. */
  onArrival(listener: ArrivalListener): void {
    this.#arrivalListeners.add(listener);
  }

  /** Called with each request that ends, and what it changed. Returns a function that ends this. */
  onEnd(listener: EndListener): () => void {
    this.#endListeners.add(listener);
    return () => void this.#endListeners.delete(listener);
  }

  /** Called after each change of the state, with the request that made it: by requests, people, faults, webhook calls and resets. */
  onChange(listener: ChangeListener): () => void {
    this.#changeListeners.add(listener);
    return () => void this.#changeListeners.delete(listener);
  }
}

function contentOf({ method, path, query, body }: MockRequest): string {
  return JSON.stringify([method, path, query, body]);
}
