import { AbortError, ConfigurationError } from "../errors.ts";
import { untilAborted } from "../transport/abort.ts";
import { consentLines, type ConsentWrite } from "../transport/consent.ts";
import type { CallExtension, Interceptor, RequestContext } from "../transport/interceptor.ts";
import { statesSameConsent, type ConsentLog } from "./consent-log.ts";
import type { RowRecord } from "./row-record.ts";

/** What goes along with the calls of one row: makes them safe over a restart, and knows what became of them. */
export class RowContext implements CallExtension {
  readonly stop: AbortSignal;
  readonly consentWatch: ConsentLog;
  /** Whether anything of the row has left, or may have. */
  hasSent = false;
  /** Why the row, or a part of it, was not sent: a later word on its contact stands. */
  superseded: AbortError | undefined;
  readonly #record: RowRecord;
  readonly #eventId: string | undefined;
  readonly #isCurrent: () => unknown;
  readonly #onLateCall: () => void;
  /** Resolves when the row's end is recorded. */
  readonly ended: Promise<void>;
  // Given by the constructor of the promise, which runs at once.
  #resolveEnded!: () => void;
  #isOver = false;
  /** Calls that must not be made twice, and were carried out, or may have been, or still may be. */
  readonly #unrepeatable = new Set<object>();
  /** Calls that were carried out, or may have been. */
  #mayHaveApplied = false;
  /** The consents that the row's calls state. */
  readonly #consents = new Set<string>();
  /** Writes that have not ended, as far as the row's function can have heard. A read that nobody waits for loses nothing. */
  readonly #pendingWrites = new Set<Promise<unknown>>();
  #events = 0;

  constructor(row: {
    stop: AbortSignal;
    run: ConsentLog;
    record: RowRecord;
    eventId: string | undefined;
    isCurrent: () => unknown;
    onLateCall: () => void;
  }) {
    this.stop = row.stop;
    this.consentWatch = row.run;
    this.#record = row.record;
    this.#eventId = row.eventId;
    this.#isCurrent = row.isCurrent;
    this.#onLateCall = row.onLateCall;
    this.ended = new Promise((resolve) => (this.#resolveEnded = resolve));
  }

  /** Whether making the row's calls again could do twice what must not be. */
  get isInDoubt(): boolean {
    return this.#unrepeatable.size > 0;
  }

  onWrite(result: Promise<unknown>, promise: Promise<unknown>): void {
    if (this.#isOver) {
      // While the run lasts it ends with what is wrong here. Afterwards the call is refused, and only its caller is told.
      if (!this.stop.aborted) promise.catch(() => undefined);
      this.#onLateCall();
      this.#record.reopen().catch(() => undefined);
    }
    this.#pendingWrites.add(promise);
    const settled = () => this.#pendingWrites.delete(promise);
    // What the caller was given settles a moment before this, and who waits for it goes on a moment after.
    queueMicrotask(() => void result.then(settled, settled));
  }

  /** Whether a write was still under way; resolves when none is, and answers for those that nobody waited for. */
  async settleWrites(): Promise<boolean> {
    const hadPending = this.#pendingWrites.size > 0;
    while (this.#pendingWrites.size > 0) await Promise.allSettled(this.#pendingWrites);
    return hadPending;
  }

  /** The first event of a row has the row's own id, the others that id and their number. */
  readonly newEventId = (): string => {
    if (this.#eventId === undefined) return crypto.randomUUID();
    this.#events++;
    return this.#events === 1 ? this.#eventId : `${this.#eventId}-${this.#events}`;
  };

  /** Keeps account of what each write came to, over all its attempts. */
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
    if (request.method === "POST") {
      // The checkpoint may hang: the contact's other writes wait no longer than the row's call does.
      await untilAborted(this.#recordAttempt(context), stopWaiting.signal);
      // Once more right before the attempt: it may have been superseded while it was recorded.
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
    this.#throwIfOver();
    // What an earlier run recorded as superseded is not written over before it is known that the row may be sent.
    this.#checkConsent(consentWrite);
    if (!isRepeatable) this.#unrepeatable.add(context);
    await this.#record.sends(isRepeatable ? "sent" : "in-doubt", this.#consentText);
    this.#throwIfOver();
  }

  #checkConsent(consentWrite: ConsentWrite | undefined): void {
    if (consentWrite && this.#isSuperseded(consentWrite)) {
      throw this.#supersede("Another call has written the contact's consent after the run began");
    }
  }

  /** Records the row's end; or, where it came to nothing, that it is as before. */
  async recordEnd(end: "succeeded" | "superseded" | "failed" | "unprocessed"): Promise<void> {
    this.#isOver = true;
    try {
      if (end === "succeeded" || end === "superseded") await this.#record.ends(end, this.#consentText);
      else if (this.isInDoubt || this.#mayHaveApplied) return;
      else if (end === "failed") await this.#record.failed(this.#consentText);
      else await this.#record.restore();
    } finally {
      this.#resolveEnded();
    }
  }

  get #consentText(): string {
    return [...this.#consents].join("\n");
  }

  #isSuperseded(write: ConsentWrite): boolean {
    const { before } = this.#record;
    if (before?.state === "superseded" && statesSameConsent(before, write.consent)) return true;
    return this.consentWatch.isOverriddenBy(write, before);
  }

  async #checkIsCurrent(): Promise<void> {
    const isCurrent = await this.#isCurrent();
    if (typeof isCurrent !== "boolean") throw new ConfigurationError("isCurrent must return true or false.");
    if (!isCurrent) throw this.#supersede("isCurrent returned false");
  }

  /** A call that was given up may still be waiting here. */
  #throwIfOver(): void {
    if (this.#isOver)
      throw new AbortError({ message: "The row has ended.", outcome: "not-sent", cause: undefined });
  }

  #supersede(reason: string): AbortError {
    const message = `${reason}: the row was not sent, or not sent again.`;
    return (this.superseded ??= new AbortError({ message, outcome: "not-sent", cause: undefined }));
  }
}
