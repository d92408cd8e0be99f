import { isAudienceError } from "../errors.ts";
import { extensionOption, type CallOptions } from "../transport/call-options.ts";
import type { BulkStatus } from "./result.ts";
import type { RowContext } from "./row-context.ts";

/**
 * Pass this to the row's calls. It contains the run's signal, the last priority, and the state that makes the row safe
 * over a restart: an event without an id gets one from checkpoint, key and the row's version. It removes the client's
 * `deadlineMs` and `maxWaitMs`, so that a row waits as long as necessary. It may be spread: `{ ...request, timeoutMs }`.
 */
export interface BulkRequest extends CallOptions {
  readonly signal: AbortSignal;
  readonly priority: number;
  /** The row's key. A spread omits it, because it is not an option of a call. */
  readonly key: string;
}

/** Makes a row's call, or several in sequence. It must return or await them. */
export type BulkCall<Row, Result extends PromiseLike<unknown> = PromiseLike<unknown>> = (
  row: Row,
  request: BulkRequest,
) => Result;

/** The end of a row. */
export interface RowEnd<Value> {
  readonly status: BulkStatus;
  readonly value?: Value;
  readonly error?: unknown;
}

const lastPriority = 9;

/** The options of a row's calls. */
export function requestFor(key: string, context: RowContext): BulkRequest {
  const request = {
    signal: context.stop,
    priority: lastPriority,
    // A row waits as long as necessary: the client's own limits are for interactive calls (D53).
    maxWaitMs: Infinity,
    deadlineMs: Infinity,
    [extensionOption]: context,
  };
  // Not enumerable: it is not an option of a call, and a spread must omit it.
  return Object.defineProperty(request, "key", { value: key }) as typeof request & { key: string };
}

/**
 * Runs a row's function and records its end. Starts at once; never rejects. Undefined for a row that only waited until
 * the run ended: nothing of it was sent.
 */
export async function callRow<Value>(
  call: () => PromiseLike<Value>,
  context: RowContext,
): Promise<RowEnd<Value> | undefined> {
  const end = await endOf(call, context);
  const { status, error } = end;
  const isDone = status === "succeeded" || status === "superseded";
  const isInterrupted = !isDone && hasCode(error, "aborted", "closed");
  const isUnprocessed = isInterrupted || hasCode(error, "rate_limit");
  // The record has already reported a failure to the run, which ends with it; the row's end stays the same.
  await context.recordEnd(isDone ? status : isUnprocessed ? "unprocessed" : "failed").catch(() => undefined);
  return isInterrupted && context.stop.aborted && !context.hasSent ? undefined : end;
}

async function endOf<Value>(call: () => PromiseLike<Value>, context: RowContext): Promise<RowEnd<Value>> {
  try {
    const promise = call();
    const isPromise = isPromiseLike(promise);
    const value = await promise;
    const hadPendingWrites = await context.settleWrites();
    // A call that is not awaited may fail unnoticed, and the row would be recorded as succeeded (D82).
    if (hadPendingWrites || !isPromise) return { status: "unknown", error: context.reportMisuse() };
    return context.superseded ? supersededEnd(context) : { status: "succeeded", value };
  } catch (error) {
    await context.settleWrites();
    if (context.superseded) return supersededEnd(context);
    return { status: context.isInDoubt ? "unknown" : statusOf(error), error };
  }
}

function isPromiseLike(value: unknown): boolean {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}

/** Before its superseded call a row may have made one that must not be repeated. */
function supersededEnd({ isInDoubt, superseded: error }: RowContext): RowEnd<never> {
  return { status: isInDoubt ? "unknown" : "superseded", error };
}

/** The status of a row by its error. Other errors than an `AudienceError` say nothing about the service. */
function statusOf(error: unknown): BulkStatus {
  if (hasCode(error, "validation")) return "invalid";
  return isAudienceError(error) && error.outcome === "unknown" ? "unknown" : "failed";
}

function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return isAudienceError(error) && codes.includes(error.code);
}
