import { AbortError, ClientClosedError, isAudienceError } from "../errors.ts";
import { onAbort, reasonOf } from "../transport/abort.ts";
import type { ConsentWatch } from "../transport/client-state.ts";
import { ConsentLog } from "./consent-log.ts";
import { intake, type Intake, type ReadyRow } from "./intake.ts";
import { notify } from "./notify.ts";
import type { BulkOptions } from "./options.ts";
import { RecordedRun } from "./recorded-run.ts";
import type { BulkResult, BulkSummary } from "./result.ts";
import { callRow, misuseError, type BulkCall, type RunInRow, type RowEnd } from "./row-call.ts";
import type { RowContext } from "./row-context.ts";
import type { RowSource } from "./rows.ts";
import { isStop } from "./stop-when.ts";
import { Tally } from "./tally.ts";

/** The part of the client that a run needs. */
export interface BulkClient {
  /** Aborted when the client is closed. */
  readonly closed: AbortSignal;
  readonly runInRow: RunInRow;
  /** Reports each write of consent by another call to the run, until the returned function is called. */
  readonly watchConsent: (watch: ConsentWatch) => () => void;
  /** The time for that many calls; undefined without a rate limiter. */
  readonly estimateMs: (calls: number) => number | undefined;
  readonly now: () => number;
}

const defaultConcurrency = 10;

/**
 * Sends many rows, a few at a time. A row occupies one of the `concurrency` slots until its end is recorded and the
 * consumer has finished with its result, so a slow consumer slows the reading down.
 */
export class RowPump<Row, Value> {
  readonly #source: RowSource<Row>;
  readonly #call: BulkCall<Row, PromiseLike<Value>>;
  readonly #options: BulkOptions<Row>;
  readonly #client: BulkClient;
  readonly #tally: Tally;
  /** Once it is aborted, no further row starts. */
  readonly #stop = new AbortController();
  readonly #ended: BulkResult<Row, Value>[] = [];
  /** The number of rows that were read and have not ended. */
  #underWay = 0;
  /** Whether the consumer is working on a result. */
  #isConsuming = false;
  #isReadingOver = false;
  #isEverythingRead = false;
  #failure: { error: unknown } | undefined;
  /** The reader and the consumer while they wait: each checks its own condition after a change. */
  #waiting: (() => void)[] = [];

  constructor(
    source: RowSource<Row>,
    call: BulkCall<Row, PromiseLike<Value>>,
    options: BulkOptions<Row>,
    client: BulkClient,
  ) {
    this.#source = source;
    this.#call = call;
    this.#options = options;
    this.#client = client;
    this.#tally = new Tally(client.now);
  }

  /** Every row's result; rejects at the end with the failure of the run. If the loop is left, requests in flight end. */
  async *results(): AsyncGenerator<BulkResult<Row, Value>, void, undefined> {
    const { signal } = this.#options;
    const forgets = [
      signal && onAbort(signal, () => this.#fail(abortError(signal))),
      onAbort(this.#client.closed, () => this.#fail(new ClientClosedError("unknown"))),
    ];
    const opening = this.#openCheckpoint();
    const consents = new ConsentLog(opening);
    const unwatch = this.#client.watchConsent(consents);
    let recorded: RecordedRun | undefined;
    try {
      this.#tally.begin();
      recorded = await opening;
      void this.#read(recorded, consents);
      for (let next = await this.#next(); next; next = await this.#next()) yield next;
    } catch (error) {
      this.#fail(error);
    } finally {
      for (const forget of forgets) forget?.();
      await this.#drain();
      unwatch();
      await consents.settled();
      await this.#close(recorded);
    }
  }

  #openCheckpoint(): Promise<RecordedRun> | undefined {
    const { checkpoint, key } = this.#options;
    if (!checkpoint || this.#stop.signal.aborted) return undefined;
    const onFailure = (error: unknown) => this.#fail(error);
    return RecordedRun.open(checkpoint, { isKeyed: key !== undefined, onFailure });
  }

  summary(): BulkSummary {
    return this.#tally.summary();
  }

  /** The next result; undefined after the last one. */
  async #next(): Promise<BulkResult<Row, Value> | undefined> {
    this.#wake();
    for (;;) {
      const result = this.#ended.shift();
      this.#isConsuming = result !== undefined;
      if (result) return result;
      if (this.#underWay === 0 && (this.#isReadingOver || this.#stop.signal.aborted)) return undefined;
      await this.#nextChange();
    }
  }

  /** Starts no further row, and waits for the rows in progress. */
  async #drain(): Promise<void> {
    this.#stop.abort();
    this.#wake();
    while (this.#underWay > 0) await this.#nextChange();
  }

  /** Rejects with the first failure. */
  async #close(recorded: RecordedRun | undefined): Promise<void> {
    const isWhole = this.#isEverythingRead && this.#ended.length === 0 && !this.#failure;
    if (isWhole) await this.#failOnError(() => recorded?.finish());
    await this.#failOnError(() => recorded?.close());
    await this.#failOnError(() => this.#source.close());
    if (!this.#failure) return;
    const { error } = this.#failure;
    // Every row that was sent has an end.
    const isEnded = error instanceof AbortError || error instanceof ClientClosedError;
    if (isEnded && !this.#tally.done) Object.assign(error, { outcome: "not-sent" });
    throw error;
  }

  get #hasRoom(): boolean {
    const { concurrency = defaultConcurrency } = this.#options;
    return this.#underWay + this.#ended.length + Number(this.#isConsuming) < concurrency;
  }

  async #read(recorded: RecordedRun | undefined, consents: ConsentLog): Promise<void> {
    const { signal: stop } = this.#stop;
    const onLateCall = () => this.#fail(misuseError());
    const prepareRow = intake(this.#options, { recorded, consents, stop, onLateCall });
    await this.#failOnError(async () => {
      for (let index = 0; ; index++) {
        while (!this.#hasRoom && !stop.aborted) await this.#nextChange();
        if (stop.aborted) return;
        const next = await this.#source.next();
        if (stop.aborted) return;
        if (next.done) {
          this.#isEverythingRead = true;
          return;
        }
        await this.#startRow(prepareRow, next.value, index);
      }
    });
    this.#isReadingOver = true;
    this.#wake();
  }

  /** Resolves when the row's call has begun. If the run stops before that, the row has no end and no result. */
  async #startRow(next: Intake<Row>, item: Row, index: number): Promise<void> {
    this.#underWay++;
    let row: ReadyRow | undefined;
    await this.#failOnError(async () => (row = await next(item, index)));
    if (row === undefined || this.#stop.signal.aborted) this.#underWay--;
    else if ("end" in row) this.#end({ index, key: row.key, item, ...row.end }, row.isNews);
    else void this.#callRow(row, item, index);
  }

  async #callRow(
    { key, context }: { key: string; context: RowContext },
    item: Row,
    index: number,
  ): Promise<void> {
    const { runInRow } = this.#client;
    const { isMisuse, ...end } = await callRow(item, key, { call: this.#call, runInRow, context });
    if (isMisuse) this.#fail(end.error);
    const isNews = end.status !== "superseded";
    if (!this.#wasNeverSent(end, context)) return this.#end({ index, key, item, ...end }, isNews);
    this.#underWay--;
    this.#wake();
  }

  /** A row that still waited when the run stopped or the client closed has no end: it was not sent. */
  #wasNeverSent({ error, status }: RowEnd<Value>, { hasSent }: RowContext): boolean {
    if (hasSent || status === "superseded" || !isAudienceError(error)) return false;
    return (error.code === "closed" || error.code === "aborted") && this.#stop.signal.aborted;
  }

  #end(result: BulkResult<Row, Value>, isNews: boolean): void {
    this.#tally.add(result.status);
    this.#underWay--;
    this.#ended.push(result);
    if (isNews && "error" in result) this.#stopIfNeeded(result.error);
    this.#reportProgress();
    this.#wake();
  }

  /** Ends the run if every other row would meet the error too. */
  #stopIfNeeded(error: unknown): void {
    if (this.#stop.signal.aborted) return;
    try {
      if (isStop(error, this.#options.stopWhen)) this.#fail(error);
    } catch (thrown) {
      this.#fail(thrown);
    }
  }

  /** The run ends with its first failure. */
  #fail(error: unknown): void {
    this.#failure ??= { error };
    this.#stop.abort(error);
    this.#wake();
  }

  async #failOnError(work: () => unknown): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#fail(error);
    }
  }

  #reportProgress(): void {
    const { onProgress, total = this.#source.length } = this.#options;
    const { estimateMs } = this.#client;
    if (onProgress)
      void notify(onProgress, this.#tally.progress(total, { underWay: this.#underWay, estimateMs }));
  }

  #nextChange(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

function abortError(signal: AbortSignal): AbortError {
  return new AbortError({ message: "The run was aborted.", outcome: "unknown", cause: reasonOf(signal) });
}
