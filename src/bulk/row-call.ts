import { ConfigurationError, isAudienceError } from "../errors.ts";
import { extensionOption, type CallOptions } from "../transport/call-options.ts";
import type { CallExtension } from "../transport/interceptor.ts";
import type { BulkStatus } from "./result.ts";
import type { RowContext } from "./row-context.ts";

/**
 * Hand this on to the row's calls. It carries the run's signal, the last priority, and what makes the row safe over a
 * restart: an event without an id gets one made from checkpoint, key and the row's version. It lifts the client's own
 * `deadlineMs` and `maxWaitMs`, as a row waits as long as it takes. It may be spread: `{ ...request, timeoutMs }`.
 */
export interface BulkRequest extends CallOptions {
  readonly signal: AbortSignal;
  readonly priority: number;
  /** The row's key. Left behind by a spread, as it is no option of a call. */
  readonly key: string;
}

/** A row's call, or several, one after the other. It must return or await them. */
export type BulkCall<Row, Result extends PromiseLike<unknown> = PromiseLike<unknown>> = (
  row: Row,
  request: BulkRequest,
) => Result;

/** Calls a row's function; what that calls at once is known to be the row's. */
export type RunInRow = <T>(request: BulkRequest, call: () => T) => T;

/** How a row ended. */
export interface RowEnd<Value> {
  readonly status: BulkStatus;
  readonly value?: Value;
  readonly error?: unknown;
  /** The function does not wait for its calls: what every row would meet. */
  readonly isMisuse?: true;
}

const lastPriority = 9;

/** Carries out one row, and records its end. Calls at once; never rejects. */
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
  // Of a failure here the run was told by the record, and ends with it; the row's end is what it is.
  await context.recordEnd(recordedEndOf(end)).catch(() => undefined);
  return end;
}

async function outcomeOf<Value>(call: () => PromiseLike<Value>, context: RowContext): Promise<RowEnd<Value>> {
  try {
    const promise = call();
    const isPromise = isPromiseLike(promise);
    const value = await promise;
    // A call that nobody waits for may fail unseen, and the row would be recorded as done (D82).
    if ((await context.settleWrites()) || !isPromise)
      return { status: "unknown", error: misuseError(), isMisuse: true };
    return context.superseded ? supersededEnd(context) : { status: "succeeded", value };
  } catch (error) {
    await context.settleWrites();
    if (context.superseded) return supersededEnd(context);
    return { status: context.isInDoubt ? "unknown" : statusOf(error), error };
  }
}

/** A row of several calls may have made one that must not be made twice, before the next was superseded. */
function supersededEnd({ isInDoubt, superseded: error }: RowContext): RowEnd<never> {
  return { status: isInDoubt ? "unknown" : "superseded", error };
}

/** What the next run finds of it: a row that only waited when the run ended was not there. */
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

/** What the call's end says. What is not ours says nothing of the service, and what is in doubt is known already. */
function statusOf(error: unknown): BulkStatus {
  if (!isAudienceError(error)) return "failed";
  if (error.code === "validation") return "invalid";
  return error.outcome === "unknown" ? "unknown" : "failed";
}

function requestFor(key: string, context: CallExtension): BulkRequest {
  const request: Omit<BulkRequest, "key"> & { [extensionOption]: CallExtension } = {
    signal: context.stop,
    priority: lastPriority,
    // A row waits as long as it takes: the client's own limits of patience are for calls that somebody waits for (D53).
    maxWaitMs: Infinity,
    deadlineMs: Infinity,
    [extensionOption]: context,
  };
  // Not an option of a call, so not among those that a call looks through, or a spread takes along.
  return Object.defineProperty(request, "key", { value: key }) as typeof request & { key: string };
}
