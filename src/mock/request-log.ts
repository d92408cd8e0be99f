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
  /** The service's own response, before a fault. Absent if a fault prevented it, and before it. */
  reply?: Reply;
  hasEnded: boolean;
}

type EndListener = (entry: MockRequest, changes: readonly StateChange[]) => void;
type ChangeListener = (change?: StateChange, record?: RequestRecord) => void;
type ArrivalListener = (record: RequestRecord) => void;

/** A page shows no more; `requests` holds all. */
const KEPT_RECORDS = 500;

/** The record of all requests, and of what each of them changed. */
export class RequestLog {
  /** All requests since the last reset, in order of arrival. */
  readonly requests: MockRequest[] = [];
  readonly #records: RequestRecord[] = [];
  /** How many requests are no longer among the records, by the id of their organization. */
  readonly #dropped = new Map<string | undefined, number>();
  readonly #endListeners = new Set<EndListener>();
  readonly #changeListeners = new Set<ChangeListener>();
  readonly #arrivalListeners = new Set<ArrivalListener>();
  #current: RequestRecord | undefined;
  #version = 0;

  /** Grows with all that a page could show: a request that arrives or ends, and each change of the state. */
  get version(): number {
    return this.#version;
  }

  /** The latest 500, oldest first. */
  get records(): readonly RequestRecord[] {
    return this.#records;
  }

  /** A request has arrived. */
  begin(entry: MockRequest, sentAt?: number): RequestRecord {
    const number = this.requests.length + 1;
    const record: RequestRecord = { number, entry, sentAt, changes: [], stances: [], hasEnded: false };
    for (const listener of this.#arrivalListeners) listener(record);
    this.requests.push(entry);
    this.#records.push(record);
    if (this.#records.length > KEPT_RECORDS) this.#drop(this.#records.shift()!);
    this.#version += 1;
    return record;
  }

  #drop({ organization }: RequestRecord): void {
    this.#dropped.set(organization, (this.#dropped.get(organization) ?? 0) + 1);
  }

  /** How many requests of an organization, and of none, are no longer among the records. */
  droppedOf(organization: string): number {
    return (this.#dropped.get(organization) ?? 0) + (this.#dropped.get(undefined) ?? 0);
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
    this.#version += 1;
    for (const listener of this.#endListeners) listener(record.entry, record.changes);
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
    this.#dropped.clear();
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
