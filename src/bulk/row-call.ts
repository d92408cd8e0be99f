import { ConfigurationError, isAudienceError } from "../errors.ts";
import { extensionOption, type CallOptions } from "../transport/call-options.ts";
import type { CallExtension } from "../transport/interceptor.ts";
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

/** Runs a row's function; the calls that it starts synchronously belong to the row. */
export type RunInRow = <T>(request: BulkRequest, call: () => T) => T;

/** The end of a row. */
export interface RowEnd<Value> {
  readonly status: BulkStatus;
  readonly value?: Value;
  readonly error?: unknown;
  /** The function does not await its calls, which would affect every row. */
  readonly isMisuse?: true;
}

const lastPriority = 9;

/** Runs one row and records its end. Starts at once; never rejects. */
export async function callRow<Row, Value>(
  row: Row,
  key: string,
  {
    call,
    runInRow,
    context,
  }: { call: BulkCall<Row, PromiseLike<Value>>; runInRow: RunInRow; context: RowContext },
): Promise<RowEnd<Value>> {
  const request = requestFor(key, context);
  const end = await outcomeOf(() => runInRow(request, () => call(row, request)), context);
  // The record has already reported a failure to the run, which ends with it; the row's end stays the same.
  await context.recordEnd(recordedEndOf(end)).catch(() => undefined);
  return end;
}

async function outcomeOf<Value>(call: () => PromiseLike<Value>, context: RowContext): Promise<RowEnd<Value>> {
  try {
    const promise = call();
    const isPromise = isPromiseLike(promise);
    const value = await promise;
    // A call that is not awaited may fail unnoticed, and the row would be recorded as succeeded (D82).
    if ((await context.settleWrites()) || !isPromise)
      return { status: "unknown", error: misuseError(), isMisuse: true };
    return context.superseded ? supersededEnd(context) : { status: "succeeded", value };
  } catch (error) {
    await context.settleWrites();
    if (context.superseded) return supersededEnd(context);
    return { status: context.isInDoubt ? "unknown" : statusOf(error), error };
  }
}

/** Before its superseded call a row may have made one that must not be repeated. */
function supersededEnd({ isInDoubt, superseded: error }: RowContext): RowEnd<never> {
  return { status: isInDoubt ? "unknown" : "superseded", error };
}

/** The state for the next run: a row that only waited when the run ended counts as unprocessed. */
function recordedEndOf({
  status,
  error,
}: RowEnd<unknown>): "succeeded" | "superseded" | "failed" | "unprocessed" {
  if (status === "succeeded" || status === "superseded") return status;
  const isUnprocessed = isAudienceError(error) && ["aborted", "closed", "rate_limit"].includes(error.code);
  return isUnprocessed ? "unprocessed" : "failed";
}

function isPromiseLike(value: unknown): boolean {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}

export function misuseError(): ConfigurationError {
  const error = new ConfigurationError(
    "The function of bulk must return or await its call: otherwise the row may end before the call does.",
  );
  return Object.assign(error, { outcome: "unknown" });
}

/** The status of a row by its error. Other errors than an `AudienceError` say nothing about the service. */
function statusOf(error: unknown): BulkStatus {
  if (!isAudienceError(error)) return "failed";
  if (error.code === "validation") return "invalid";
  return error.outcome === "unknown" ? "unknown" : "failed";
}

function requestFor(key: string, context: CallExtension): BulkRequest {
  const request: Omit<BulkRequest, "key"> & { [extensionOption]: CallExtension } = {
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
