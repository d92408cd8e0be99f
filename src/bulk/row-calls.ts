import { AbortError, ConfigurationError } from "../errors.ts";
import { hasMethods } from "../schema/predicates.ts";
import { hookOption } from "../transport/call-options.ts";
import {
  recordOutcome,
  type ApiResponse,
  type Call,
  type CallHook,
  type SendCall,
} from "../transport/call.ts";
import { isRefusedForLong, rowPriority, type BulkRequest } from "./bulk-options.ts";
import type { ConsentLog } from "./consent-log.ts";
import { endBy, hasCode, isInterrupted, type RowEnd } from "./result.ts";
import { IsCurrentError, RowGuard, type GuardOfRows } from "./row-guard.ts";
import { inDoubt } from "./row-record.ts";
import type { ReadRow } from "./row-source.ts";

/** What the rows of a run share. */
export interface RunOfRows<Row> extends GuardOfRows<Row> {
  /** Aborted when the run ends. */
  readonly stop: AbortSignal;
  /** Whether the function of the rows has a parameter for it. */
  readonly takesRequest: boolean;
  /** Ends the run. */
  readonly fail: (error: unknown) => void;
}

/**
 * The calls of one row, from the start of its function to its recorded end:
 *
 * 1. `run` starts the function. Its calls get `request`, and with it this object as the hook of its calls.
 * 2. Before each attempt of a write (`prepare`, then `confirm`): a row that is not superseded is recorded as `sent`, or
 *    as `in-doubt` if the write must not be repeated. Is it still current?
 * 3. Around each call (`aroundCall`): is the row in doubt, and the write not repeatable? After it: was it applied, or may
 *    it have been? If not, its doubt is cleared.
 * 4. When the function and all its writes have ended, their outcomes give the row's status, and the end is recorded. If
 *    nothing was applied, the record of an earlier run stands.
 */
export class RowCalls<Row> implements CallHook {
  readonly stop: AbortSignal;
  readonly consentWatch: ConsentLog;
  /** The options of the row's calls. */
  readonly request: BulkRequest;
  readonly #row: ReadRow<Row>;
  readonly #run: RunOfRows<Row>;
  #isOver = false;
  #hasSent = false;
  readonly #guard: RowGuard<Row>;
  /** Calls that must not be repeated, and were executed, or may have been, or still may be. */
  readonly #unrepeatable = new Set<Call>();
  /** Calls that would have been retried, but for the end of the run. */
  readonly #cutOff = new Set<Call>();
  #mayHaveApplied = false;
  /** Whether a call has ended, also a read. */
  #hasCalled = false;
  #hasUnknownOutcome = false;
  /** A call was not sent, because an earlier run may have carried it out. */
  wasRefused = false;
  /** What a function that catches it must not hide: the end of the run, an error of `isCurrent`, a wait of over an hour. */
  #unfinished: { error: unknown } | undefined;
  /** How the writes ended: if none was applied, the row ends with the last error, even if its function catches it. */
  #hasApplied = false;
  #lastFailure: { error: unknown } | undefined;
  /** Writes whose promises have not settled for the row's function. Reads that are not awaited lose nothing. */
  readonly #pendingWrites = new Set<Promise<unknown>>();
  /** How many events of each name have a generated id. */
  readonly #events = new Map<string, number>();

  constructor(row: ReadRow<Row>, run: RunOfRows<Row>) {
    this.stop = run.stop;
    this.consentWatch = run.consents;
    this.#row = row;
    this.#run = run;
    this.#guard = new RowGuard(row, run);
    const request = {
      signal: run.stop,
      // A row goes last and waits as long as necessary: the client's own limits are for interactive calls (D53).
      priority: rowPriority,
      maxWaitMs: Infinity,
      deadlineMs: Infinity,
      [hookOption]: this,
    };
    // Not enumerable: it is not an option of a call, and a spread must omit it. Safe: the key is defined here.
    const key = { value: row.key.key };
    this.request = Object.defineProperty(request as typeof request & { key: string }, "key", key);
  }

  /**
   * Runs the row's function and records its end. Starts at once; never rejects. Undefined for a row that only waited
   * until the run ended: nothing of it was sent.
   */
  async run<Value>(call: () => PromiseLike<Value>): Promise<RowEnd<Value> | undefined> {
    const end = await this.#endOf(call);
    this.#isOver = true;
    // The record has already reported a failure to the run, which ends with it; the row's end stays the same.
    await this.#recordEnd(end).catch(() => undefined);
    return isInterrupted(end) && this.stop.aborted && !this.#hasSent ? undefined : end;
  }

  async #endOf<Value>(call: () => PromiseLike<Value>): Promise<RowEnd<Value>> {
    let end: RowEnd<Value>;
    try {
      const promise = call();
      const isPromise = hasMethods(promise, "then");
      const value = await promise;
      const hadPendingWrites = await this.#settleWrites();
      // A call that is not awaited may fail unnoticed, and the row would be recorded as succeeded (D82).
      if (hadPendingWrites || !isPromise) return { status: "unknown", error: this.#reportMisuse() };
      end = { status: "succeeded", value };
    } catch (error) {
      await this.#settleWrites();
      end = endBy(error);
    }
    const superseded = this.#guard.error;
    const mayHaveBeenSent = this.#hasUnknownOutcome || this.#unrepeatable.size > 0;
    if (superseded) {
      const { message } = superseded;
      const error =
        mayHaveBeenSent && superseded.outcome !== "unknown"
          ? new AbortError({ message, outcome: "unknown", cause: superseded })
          : superseded;
      end = { status: "superseded", error };
    } else if (this.wasRefused) end = { status: "unknown", error: inDoubt() };
    else if (this.#unfinished) end = endBy(this.#unfinished.error);
    else if (this.#lastFailure && !this.#hasApplied && end.status === "succeeded")
      end = endBy(this.#lastFailure.error);
    if (end.status === "succeeded") return end;
    const isUnknown = this.#unrepeatable.size > 0 || (this.#hasUnknownOutcome && end.status !== "superseded");
    return isUnknown ? { ...end, status: "unknown" } : end;
  }

  async #recordEnd(end: RowEnd<unknown>): Promise<void> {
    const { record } = this.#row;
    const { status, error } = end;
    // A function that has `request` and made no call may still make it: the next run asks it again.
    if (status === "succeeded" && !this.#hasCalled && this.#run.takesRequest) return;
    const isStillInDoubt = this.wasRefused && this.#mayHaveApplied && !this.#hasUnknownOutcome;
    if (status === "succeeded") await record.ends(status, this.#guard.stated, status);
    else if (status === "superseded" && !this.#guard.isForThisRun)
      await record.ends(status, this.#guard.stated, this.#guard.isLasting ? "not-current" : "unfinished");
    else if (isStillInDoubt || this.#unrepeatable.size > 0) await record.ends("in-doubt", this.#guard.stated);
    // All that was carried out, or may have been, may be repeated.
    else if (this.#mayHaveApplied) await record.ends("sent", this.#guard.stated);
    else if (this.#isCutOff(end) || isRefusedForLong(error)) await record.restore();
    else await record.failed(this.#guard.stated);
  }

  /** The end of the run cut the row off: it has not failed. */
  #isCutOff(end: RowEnd<unknown>): boolean {
    return this.stop.aborted && (this.#unfinished !== undefined || isInterrupted(end));
  }

  /** Waits for all writes, and handles the rejections of those not awaited. Resolves with whether there were any. */
  async #settleWrites(): Promise<boolean> {
    const hadPending = this.#pendingWrites.size > 0;
    while (this.#pendingWrites.size > 0) await Promise.allSettled(this.#pendingWrites);
    return hadPending;
  }

  /** The function does not await its calls, which would affect every row: the run ends. */
  #reportMisuse(): ConfigurationError {
    const error = new ConfigurationError(
      "The function of bulk must return or await its call: otherwise the row may end before the call does.",
      "unknown",
    );
    this.#run.fail(error);
    return error;
  }

  onWrite(result: Promise<unknown>, promise: Promise<unknown>): void {
    if (this.#isOver) {
      // During the run, the run ends with this error. Afterwards only the caller gets the rejection.
      if (!this.stop.aborted) promise.catch(() => undefined);
      this.#reportMisuse();
      this.#row.record.reopen().catch(() => undefined);
    }
    this.#pendingWrites.add(promise);
    const settled = () => this.#pendingWrites.delete(promise);
    void result.then(
      () => (this.#hasApplied = true),
      (error: unknown) => (this.#lastFailure = { error }),
    );
    // The caller's promise settles just before this, and code that awaits it continues just after.
    queueMicrotask(() => void result.then(settled, settled));
  }

  /** Independent of the order of events with different names: after a crash it may be another. */
  readonly newEventId = (eventName: string): string => {
    const { eventId } = this.#row.record;
    if (eventId === undefined) return crypto.randomUUID();
    const number = (this.#events.get(eventName) ?? 0) + 1;
    this.#events.set(eventName, number);
    return `${eventId}-${number}-${eventName}`;
  };

  /** Tracks the outcome of each write, over all its attempts. */
  async aroundCall(call: Call, next: SendCall): Promise<ApiResponse> {
    const { isRepeatable, report } = call;
    const { method, consentWrite } = call.request;
    if (this.#isOver && this.stop.aborted) throw this.#reportMisuse();
    // Also if it is never sent: the row has made this decision.
    if (consentWrite) this.#guard.states(consentWrite);
    if (method !== "GET" && !isRepeatable && this.#row.record.refusesUnrepeatable) {
      this.wasRefused = true;
      recordOutcome(report, "unknown");
      throw inDoubt();
    }
    try {
      const response = await next(call);
      this.#mayHaveApplied ||= method !== "GET";
      return response;
    } catch (error) {
      const { outcome } = report;
      const cause: unknown = error instanceof IsCurrentError ? error.cause : error;
      const isCutOff = this.stop.aborted && (this.#cutOff.has(call) || hasCode(error, "aborted", "closed"));
      // A read that comes after the row's writes changes nothing of them.
      const isLateRead = method === "GET" && this.#mayHaveApplied;
      if (error instanceof IsCurrentError || (!isLateRead && (isCutOff || isRefusedForLong(cause))))
        this.#unfinished = { error: cause };
      if (outcome === "not-sent" || outcome === "not-applied") this.#unrepeatable.delete(call);
      else this.#mayHaveApplied = this.#hasUnknownOutcome = true;
      throw cause;
    } finally {
      this.#hasCalled = true;
      this.#hasSent ||= report.attempts > 0;
    }
  }

  /** Records before each attempt that the row may have been sent, unless it is superseded. */
  async prepare(call: Call): Promise<void> {
    const { isRepeatable, request } = call;
    const { consentWrite } = request;
    if (consentWrite) await this.consentWatch.load(consentWrite.contacts);
    call.stopWaiting.signal.throwIfAborted();
    // Before the record changes, so that a superseded state of an earlier run is kept.
    this.#guard.checkConsent(consentWrite);
    if (!isRepeatable) this.#unrepeatable.add(call);
    await this.#row.record.sends(isRepeatable ? "sent" : "in-doubt", this.#guard.stated);
    // Last: a record may take long, and another process may write the contact meanwhile.
    await this.#guard.checkIsCurrent();
  }

  confirm(call: Call): void {
    this.#guard.checkConsent(call.request.consentWrite);
  }

  cutOff(call: Call): void {
    this.#cutOff.add(call);
  }
}
