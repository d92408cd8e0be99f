import { ConfigurationError, isAudienceError } from "../errors.ts";
import { companionOption, type CallOptions, type Companion } from "../transport/call-options.ts";
import type { BulkStatus } from "./result.ts";
import type { RowCompanion } from "./row-companion.ts";

/**
 * Hand this on to the row's calls. It carries the run's signal, the last priority, and what makes the row safe over a
 * restart: an event without an id gets one made from checkpoint and key. It lifts the client's own `deadlineMs` and
 * `maxWaitMs`, as a row waits as long as it takes. It may be spread: `{ ...request, timeoutMs }`, `{ ...request, deadlineMs }`.
 */
export interface BulkRequest extends CallOptions {
  readonly signal: AbortSignal;
  readonly priority: number;
  /** The row's key. Left behind by a spread, as it is no option of a call. */
  readonly key: string;
}

/** A row's call, or several, one after the other. */
export type BulkCall<Row, Value> = (row: Row, request: BulkRequest) => PromiseLike<Value> | Value;

/** How a row ended. */
export interface RowEnd<Value> {
  readonly status: BulkStatus;
  readonly value?: Value;
  readonly error?: unknown;
}

const lastPriority = 9;

/** Carries out one row, and puts its end on record. Calls at once; never rejects. */
export async function callRow<Row, Value>(
  row: Row,
  key: string,
  { call, companion }: { call: BulkCall<Row, Value>; companion: RowCompanion },
): Promise<RowEnd<Value>> {
  const end = await outcomeOf(row, key, call, companion);
  // Of a failure here the run has heard from the record, and ends with it; the row's end is what it is.
  await companion.recordEnd(end.status === "succeeded").catch(() => undefined);
  return end;
}

async function outcomeOf<Row, Value>(
  row: Row,
  key: string,
  call: BulkCall<Row, Value>,
  companion: RowCompanion,
): Promise<RowEnd<Value>> {
  try {
    const value = await call(row, requestFor(key, companion));
    // It may fail unheard, and the row would be on record as done (D82).
    if (await companion.wasLeft()) {
      const error = new ConfigurationError("A row must return or await its call.");
      throw Object.assign(error, { outcome: "unknown" });
    }
    return { status: "succeeded", value };
  } catch (error) {
    await companion.wasLeft();
    return { status: companion.isInDoubt ? "unknown" : statusOf(error), error };
  }
}

/** What the call's end says. What is not ours says nothing of the service, and what is in doubt is known already. */
function statusOf(error: unknown): BulkStatus {
  if (!isAudienceError(error)) return "failed";
  if (error.code === "validation") return "invalid";
  return error.outcome === "unknown" ? "unknown" : "failed";
}

function requestFor(key: string, companion: Companion): BulkRequest {
  const request: Omit<BulkRequest, "key"> & { [companionOption]: Companion } = {
    signal: companion.stop,
    priority: lastPriority,
    // A row waits as long as it takes: the client's own limits of patience are for calls that somebody waits for (D53).
    maxWaitMs: Infinity,
    deadlineMs: Infinity,
    [companionOption]: companion,
  };
  // Not an option of a call, so not among those that a call looks through, or a spread takes along.
  return Object.defineProperty(request, "key", { value: key }) as typeof request & { key: string };
}
