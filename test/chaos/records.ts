import type { BulkResult, BulkSummary, CallOptions } from "audience-sdk";
import type { MockRequest } from "audience-sdk/mock";
import type { Facts, Input } from "./inputs.ts";

/** One request, as it left a client. */
export interface Departure {
  readonly call: CallRecord | undefined;
  readonly at: number;
  readonly body: string | undefined;
  readonly key: string | undefined;
  readonly method: string;
  /** Why it never left the machine. */
  unsent?: "refused" | "dns" | "tls";
  /** When the client got a response, or the failure of the connection. */
  endedAt?: number;
  status?: number;
  /** What a refusal asks to wait, in milliseconds. */
  waitMs?: number;
  /** As the service saw it; undefined if it never arrived. */
  request?: MockRequest;
}

/** An answer of `isCurrent`. */
export interface Answer {
  readonly askedAt: number;
  readonly at: number;
  readonly isCurrent: boolean;
}

/** One call of a client, and its end. */
export interface CallRecord {
  readonly tag: string;
  /** A client with all its views. */
  readonly client: string;
  /** Undefined for a read. */
  readonly input: Input | undefined;
  readonly facts: Facts;
  readonly options: CallOptions;
  readonly startedAt: number;
  readonly departures: Departure[];
  /** Of a row: its run, and its key. */
  readonly run?: RunRecord;
  readonly key?: string;
  /** What `isCurrent` has answered. */
  readonly answers: Answer[];
  abortedAt?: number;
  /** Missing if its process was killed before. */
  settledAt?: number;
  error?: unknown;
  value?: unknown;
  attempts?: number;
}

/** A row of a table. */
export interface Row {
  readonly key: string;
  readonly person: number;
  /** Its writes, one after the other. */
  readonly inputs: readonly Input[];
  /** Changes without the consent. */
  readonly night: number;
}

/** A run of bulk: one life of it, where it was killed and continued. */
export interface RunRecord {
  readonly client: string;
  /** The name of the checkpoint; undefined without one. */
  readonly book: string | undefined;
  readonly rows: readonly Row[];
  readonly concurrency: number;
  readonly startedAt: number;
  readonly results: BulkResult<Row, unknown>[];
  readonly hasIsCurrent: boolean;
  endedAt?: number;
  wasKilled: boolean;
  wasLeft: boolean;
  error?: unknown;
  summary?: BulkSummary;
}

/** The end of a client. */
export interface CloseRecord {
  readonly client: string;
  readonly drain: boolean;
  readonly startedAt: number;
  endedAt?: number;
}

/** All that happened. */
export interface Log {
  readonly calls: CallRecord[];
  readonly departures: Departure[];
  readonly runs: RunRecord[];
  readonly closes: CloseRecord[];
  /** Lines, hook arguments and messages of tracing channels, by the place where they were seen. */
  readonly said: { readonly where: string; readonly text: string }[];
  /** Messages of the call channel, by the id of the request. */
  readonly traces: Map<string, { outcome?: string; attempts?: number }>;
  readonly unhandled: unknown[];
  readonly secrets: string[];
  isVisitedByStrangers: boolean;
}

export function newLog(): Log {
  return {
    calls: [],
    departures: [],
    runs: [],
    closes: [],
    said: [],
    traces: new Map(),
    unhandled: [],
    secrets: [],
    isVisitedByStrangers: false,
  };
}

/** `Map.groupBy`, which Node 20 lacks. */
export function groupBy<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}
