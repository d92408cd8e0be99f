import { ConfigurationError } from "../errors.ts";
import { hasMethods } from "../schema/predicates.ts";
import { hookOption } from "../transport/call-options.ts";
import {
  recordOutcome,
  type ApiResponse,
  type Call,
  type CallHook,
  type SendCall,
  type WriteHook,
} from "../transport/call.ts";
import { isRefusedForLong, rowPriority, type BulkRequest } from "./bulk-options.ts";
import type { ConsentNotes } from "./consent-notes.ts";
import { hasCode, inDoubt, type RowEnd } from "./result.ts";
import { type CallEnd, type FunctionEnd, judgeEnd, UnansweredError } from "./row-end.ts";
import { type GuardSettings, RowGuard } from "./row-guard.ts";
import type { ReadRow } from "./row-source.ts";
import { isOptOut } from "./statements.ts";

/** What the rows of a run share. */
export interface RunOfRows<Row> extends GuardSettings<Row> {
  readonly notes: ConsentNotes;
  /** Aborted when the run ends. */
  readonly stop: AbortSignal;
  /** Whether the function of the rows has a parameter for it. */
  readonly takesRequest: boolean;
  /** Ends the run, and throws, if the call writes to another target. */
  readonly checkTarget: (call: Call) => Promise<void>;
  /** Ends the run. */
  readonly fail: (error: unknown) => void;
}

/**
 * The calls of one row, from the start of its function to its recorded end:
 *
 * 1. `run` starts the function. Its calls get `request`, and with it this object as the hook of its calls.
 * 2. Before a write waits (`check`), and before each attempt (`prepare`, `confirm`): is the row superseded? Each attempt is
 *    recorded first.
 * 3. Around each call (`aroundCall`): its end is noted.
 * 4. When the function and all its writes have ended, `judgeEnd` tells the row's end, and it is recorded.
 */
export class RowCalls<Row> implements CallHook, WriteHook {
  readonly stop: AbortSignal;
  readonly writes = this;
  readonly consentWatch: ConsentNotes;
  /** The options of the row's calls. */
  readonly request: BulkRequest;
  readonly #row: ReadRow<Row>;
  readonly #run: RunOfRows<Row>;
  readonly #guard: RowGuard<Row>;
  readonly #ends: CallEnd[] = [];
  /** Calls that would have been retried, but for the end of the run. */
  readonly #cutOff = new Set<Call>();
  /** Writes whose promises have not settled for the row's function. Reads that are not awaited lose nothing. */
  readonly #pendingWrites = new Set<Promise<unknown>>();
  #isOver = false;

  constructor(row: ReadRow<Row>, run: RunOfRows<Row>) {
    this.stop = run.stop;
    this.consentWatch = run.notes;
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

  /** A call was not sent, because an earlier run may have carried it out. */
  get wasRefused(): boolean {
    return this.#ends.some(({ reason }) => reason === "in-doubt");
  }

  /**
   * Runs the row's function and records its end. Starts at once; never rejects. Undefined for a row that only waited
   * until the run ended: nothing of it was sent.
   */
  async run<Value>(call: () => PromiseLike<Value>): Promise<RowEnd<Value> | undefined> {
    const { takesRequest } = this.#run;
    const end = await this.#endOf(call);
    const { superseded, stated } = this.#guard;
    const facts = { end, calls: this.#ends, superseded, isStopped: this.stop.aborted, takesRequest };
    const { end: rowEnd, recorded, hasOnlyWaited } = judgeEnd(facts);
    this.#isOver = true;
    // A failure of the record has already ended the run; the row's end stays the same.
    if (recorded) await this.#row.record.ends(recorded, stated).catch(() => undefined);
    return hasOnlyWaited ? undefined : rowEnd;
  }

  async #endOf<Value>(call: () => PromiseLike<Value>): Promise<FunctionEnd<Value>> {
    try {
      const promise = call();
      const isPromise = hasMethods(promise, "then");
      const value = await promise;
      const hadPendingWrites = await this.#settleWrites();
      // A call that is not awaited may fail unnoticed, and the row would be recorded as succeeded (D82).
      if (hadPendingWrites || !isPromise) return { kind: "misused", error: this.#reportMisuse() };
      return { kind: "resolved", value };
    } catch (error) {
      await this.#settleWrites();
      return { kind: "rejected", error };
    }
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

  /** A call of the function without `request` is none of the row's: every row would make it, so the run ends. */
  readonly refuseForgotten = (): ConfigurationError => {
    const error = new ConfigurationError(
      "In the function of bulk a call needs the row's request: (row, request) => audience.v1.customers.upsert(row, request).",
    );
    this.#endUnsent(error);
    this.#run.fail(error);
    return error;
  };

  onWrite(result: Promise<unknown>, promise: Promise<unknown>): void {
    if (this.#isOver) {
      // During the run, the run ends with this error. Afterwards only the caller gets the rejection.
      if (!this.stop.aborted) promise.catch(() => undefined);
      this.#reportMisuse();
      this.#row.record.reopen().catch(() => undefined);
    }
    this.#pendingWrites.add(promise);
    const settled = () => this.#pendingWrites.delete(promise);
    // An invalid call ends before `aroundCall`.
    result.catch((error: unknown) => {
      if (!this.#ends.some(({ failure }) => failure?.error === error)) this.#endUnsent(error);
    });
    // The caller's promise settles just before this, and code that awaits it continues just after.
    queueMicrotask(() => void result.then(settled, settled));
  }

  #endUnsent(error: unknown): void {
    const failure = { error };
    this.#ends.push({ isWrite: true, isRepeatable: true, attempts: 0, outcome: "not-sent", failure });
  }

  readonly newEventId = (eventName: string): string => this.#row.record.newEventId(eventName);

  /** Notes the end of each call, over all its attempts. */
  async aroundCall(call: Call, next: SendCall): Promise<ApiResponse> {
    const { isRepeatable, report, request } = call;
    const isWrite = request.method !== "GET";
    if (this.#isOver && this.stop.aborted) throw this.#reportMisuse();
    // Also if it is never sent: the row has made this decision.
    if (request.consentWrite) this.#guard.stated.set(request.consentWrite, "unsent");
    const facts = { isWrite, isRepeatable };
    // An opt-out is sent all the same (D176).
    const isOnce = isWrite && !isRepeatable && !(request.consentWrite && isOptOut(request.consentWrite));
    if (isOnce && this.#row.record.refusesUnrepeatable) throw this.#refuse(call);
    try {
      const response = await next(call);
      if (request.consentWrite) this.#guard.stated.set(request.consentWrite, "applied");
      this.#row.record.noteId(request, response);
      if (isWrite) await this.#askAgain(call);
      this.#ends.push({ ...facts, attempts: report.attempts, outcome: "applied" });
      return response;
    } catch (thrown) {
      const error: unknown = thrown instanceof UnansweredError ? thrown.cause : thrown;
      const { attempts, outcome } = report;
      if (request.consentWrite && (outcome === "applied" || outcome === "unknown"))
        this.#guard.stated.set(request.consentWrite, outcome);
      const reason = this.#reasonOf(call, thrown);
      this.#ends.push({ ...facts, attempts, outcome, failure: { error }, ...(reason && { reason }) });
      throw error;
    }
  }

  /** An earlier run may have carried the write out, and it must not be repeated. */
  #refuse({ report }: Call): Error {
    const error = inDoubt();
    recordOutcome(report, "unknown");
    const facts = { isWrite: true, isRepeatable: false, attempts: 0, outcome: report.outcome } as const;
    this.#ends.push({ ...facts, failure: { error }, reason: "in-doubt" });
    return error;
  }

  /** The write was applied, whatever `isCurrent` says now. */
  async #askAgain({ report }: Call): Promise<void> {
    try {
      await this.#guard.askAgain(this.stop);
    } catch (error) {
      recordOutcome(report, "applied");
      throw error;
    }
  }

  #reasonOf(call: Call, error: unknown): CallEnd["reason"] {
    if (error instanceof UnansweredError) return error.reason;
    // A read that comes after the row's writes changes nothing of them.
    const hasWritten = this.#ends.some(
      ({ isWrite, outcome }) => isWrite && outcome !== "not-sent" && outcome !== "not-applied",
    );
    if (call.request.method === "GET" && hasWritten) return undefined;
    if (isRefusedForLong(error)) return "unlooked";
    const isCutOff = this.stop.aborted && (this.#cutOff.has(call) || hasCode(error, "aborted", "closed"));
    return isCutOff ? "cut-off" : undefined;
  }

  /** In the order of the writes to the contact. */
  async check(call: Call): Promise<void> {
    await this.#run.checkTarget(call);
    await this.#guard.check(call);
  }

  /** Records before each attempt that the row may have been sent, unless it is superseded. */
  async prepare(call: Call): Promise<void> {
    const { isRepeatable, stopWaiting } = call;
    // Its notes have names by then.
    await this.consentWatch.named();
    await this.#guard.prepare(call);
    stopWaiting.signal.throwIfAborted();
    await this.#row.record.sends(this.#guard.stated, !isRepeatable);
    // Last: a record may take long, and another process may write the contact meanwhile.
    await this.#guard.ask(stopWaiting.signal);
  }

  confirm(call: Call): boolean {
    this.#guard.confirm(call);
    return this.#guard.isFresh(call);
  }

  cutOff(call: Call): void {
    this.#cutOff.add(call);
  }
}
