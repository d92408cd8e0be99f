import { AbortError, ConfigurationError } from "../errors.ts";
import { untilAborted } from "../transport/abort.ts";
import { consentLines, type ConsentWrite } from "../transport/contact.ts";
import type { CallExtension, Interceptor, RequestContext } from "../transport/interceptor.ts";
import { statesSameConsent, type ConsentLog } from "./consent-log.ts";
import type { RowRecord } from "./row-record.ts";

/** The parts of a run that a row's calls need. */
export interface RowSettings {
  /** Aborted when the run ends. */
  readonly stop: AbortSignal;
  readonly consents: ConsentLog;
  readonly record: RowRecord;
  /** For an event without an id; undefined without a checkpoint. */
  readonly eventId: string | undefined;
  readonly isCurrent: () => unknown;
  /** Ends the run. */
  readonly onMisuse: (error: ConfigurationError) => void;
}

/** The interceptors and the state of one row's calls: makes them safe over a restart, and tracks their outcomes. */
export class RowContext implements CallExtension {
  readonly stop: AbortSignal;
  readonly consentWatch: ConsentLog;
  /** Whether a request of the row was sent, or may have been. */
  hasSent = false;
  /** Why the row, or a part of it, was not sent: a later write to its contact counts. */
  superseded: AbortError | undefined;
  readonly #row: RowSettings;
  #isOver = false;
  /** Calls that must not be repeated, and were executed, or may have been, or still may be. */
  readonly #unrepeatable = new Set<RequestContext>();
  /** Whether a call was executed, or may have been. */
  #mayHaveApplied = false;
  /** The consents of the row's calls. */
  readonly #consents = new Set<string>();
  /** Writes whose promises have not settled for the row's function. Reads that are not awaited lose nothing. */
  readonly #pendingWrites = new Set<Promise<unknown>>();
  #events = 0;

  constructor(row: RowSettings) {
    this.stop = row.stop;
    this.consentWatch = row.consents;
    this.#row = row;
  }

  /** Whether repeating the row's calls could execute an unrepeatable one twice. */
  get isInDoubt(): boolean {
    return this.#unrepeatable.size > 0;
  }

  onWrite(result: Promise<unknown>, promise: Promise<unknown>): void {
    if (this.#isOver) {
      // During the run, the run ends with this error. Afterwards only the caller gets the rejection.
      if (!this.stop.aborted) promise.catch(() => undefined);
      this.reportMisuse();
      this.#row.record.reopen().catch(() => undefined);
    }
    this.#pendingWrites.add(promise);
    const settled = () => this.#pendingWrites.delete(promise);
    // The caller's promise settles just before this, and code that awaits it continues just after.
    queueMicrotask(() => void result.then(settled, settled));
  }

  /** Waits for all writes, and handles the rejections of those not awaited. Resolves with whether there were any. */
  async settleWrites(): Promise<boolean> {
    const hadPending = this.#pendingWrites.size > 0;
    while (this.#pendingWrites.size > 0) await Promise.allSettled(this.#pendingWrites);
    return hadPending;
  }

  /** The function does not await its calls, which would affect every row: the run ends. */
  reportMisuse(): ConfigurationError {
    const error = new ConfigurationError(
      "The function of bulk must return or await its call: otherwise the row may end before the call does.",
    );
    this.#row.onMisuse(Object.assign(error, { outcome: "unknown" }));
    return error;
  }

  /** The first event has the row's id, the others that id and a number. */
  readonly newEventId = (): string => {
    const { eventId } = this.#row;
    if (eventId === undefined) return crypto.randomUUID();
    this.#events++;
    return this.#events === 1 ? eventId : `${eventId}-${this.#events}`;
  };

  /** Tracks the outcome of each write, over all its attempts. */
  readonly aroundCall: Interceptor = (next) => async (context) => {
    const { method, consentWrite } = context.request;
    if (method === "GET") return await next(context);
    try {
      const response = await next(context);
      if (consentWrite) this.consentWatch.rowApplied(consentWrite.contacts);
      this.#mayHaveApplied = true;
      return response;
    } catch (error) {
      const { outcome } = context;
      if (outcome === "not-sent" || outcome === "not-applied") this.#unrepeatable.delete(context);
      else this.#mayHaveApplied = true;
      throw error;
    }
  };

  /** Records before each attempt that the row may have been sent, unless it is superseded. */
  readonly aroundAttempt: Interceptor = (next) => async (context) => {
    const { request, stopWaiting } = context;
    if (request.method !== "GET") {
      // The checkpoint may hang: an aborted call must not block the contact's other writes.
      await untilAborted(this.#recordAttempt(context), stopWaiting.signal);
      // Again: it may have been superseded while it was recorded.
      this.#checkConsent(request.consentWrite);
    }
    this.hasSent = true;
    return await next(context);
  };

  async #recordAttempt(context: RequestContext): Promise<void> {
    const { isRepeatable, request } = context;
    const { consentWrite } = request;
    if (consentWrite) {
      for (const line of consentLines(consentWrite.consent)) this.#consents.add(line);
      await this.consentWatch.load(consentWrite.contacts);
    }
    await this.#checkIsCurrent();
    context.stopWaiting.signal.throwIfAborted();
    // Before the record changes, so that a superseded state of an earlier run is kept.
    this.#checkConsent(consentWrite);
    if (!isRepeatable) this.#unrepeatable.add(context);
    await this.#row.record.sends(isRepeatable ? "sent" : "in-doubt", this.#consentText);
  }

  /** Records the row's end, or restores its earlier record if nothing was executed. */
  async recordEnd(end: "succeeded" | "superseded" | "failed" | "unprocessed"): Promise<void> {
    const { record } = this.#row;
    this.#isOver = true;
    if (end === "succeeded" || end === "superseded") await record.ends(end, this.#consentText);
    else if (this.isInDoubt || this.#mayHaveApplied) return;
    else if (end === "failed") await record.failed(this.#consentText);
    else await record.restore();
  }

  get #consentText(): string {
    return [...this.#consents].join("\n");
  }

  #checkConsent(write: ConsentWrite | undefined): void {
    if (!write) return;
    const { before } = this.#row.record;
    const wasSuperseded = before?.state === "superseded" && statesSameConsent(before, write.consent);
    if (wasSuperseded || this.consentWatch.isOverriddenBy(write, before))
      throw this.#supersede("Another call has written the contact's consent after the run began");
  }

  async #checkIsCurrent(): Promise<void> {
    const isCurrent = await this.#row.isCurrent();
    if (typeof isCurrent !== "boolean") throw new ConfigurationError("isCurrent must return true or false.");
    if (!isCurrent) throw this.#supersede("isCurrent returned false");
  }

  #supersede(reason: string): AbortError {
    const message = `${reason}: the row was not sent, or not sent again.`;
    return (this.superseded ??= new AbortError({ message, outcome: "not-sent", cause: undefined }));
  }
}
