import { closedError } from "../transport/session.ts";
import { AbortError, isAudienceError } from "../errors.ts";
import { Tally } from "./tally.ts";
import type { OpenCheckpoint } from "./checkpoint.ts";
import { tell } from "./tell.ts";
import { intake, type Intake, type ReadyRow } from "./intake.ts";
import type { BulkOptions } from "./options.ts";
import type { BulkResult, BulkSummary } from "./result.ts";
import { callRow, type BulkCall, type RowEnd } from "./row-call.ts";
import type { RowCompanion } from "./row-companion.ts";
import type { RowSource } from "./rows.ts";
import { openCheckpoint } from "./open-checkpoint.ts";
import { isStop } from "./stop-when.ts";
import { onAbort, reasonOf } from "../on-abort.ts";

/** What a run needs of its client. */
export interface BulkClient {
  readonly isClosed: () => boolean;
  /** How long so many more calls take; undefined where no limit is kept. */
  readonly estimateMs: (calls: number) => number | undefined;
  readonly now: () => number;
}

const defaultConcurrency = 10;

/**
 * Many rows, a few at a time. A row is read when there is room for it: it takes up room until its end is on record and
 * the consumer is done with its result, so a slow consumer holds the reading back.
 */
export class RowPump<Row, Value> {
  readonly #source: RowSource<Row>;
  readonly #call: BulkCall<Row, Value>;
  readonly #options: BulkOptions<Row>;
  readonly #client: BulkClient;
  readonly #tally: Tally;
  /** Aborted, nothing new is begun. */
  readonly #stop = new AbortController();
  readonly #ended: BulkResult<Row, Value>[] = [];
  /** Rows that were read and have not ended. */
  #underWay = 0;
  /** Whether the consumer is at work on a result. */
  #isTaken = false;
  #isReadingOver = false;
  #failure: { error: unknown } | undefined;
  /** The reading and the consumer, where they wait: each looks for itself whether it can go on. */
  #waiting: (() => void)[] = [];

  constructor(
    source: RowSource<Row>,
    call: BulkCall<Row, Value>,
    options: BulkOptions<Row>,
    client: BulkClient,
  ) {
    this.#source = source;
    this.#call = call;
    this.#options = options;
    this.#client = client;
    this.#tally = new Tally(client.now);
  }

  /** Every row's result; rejects in the end with what stopped the run. Left early, it lets what is in flight end. */
  async *results(): AsyncGenerator<BulkResult<Row, Value>, void, undefined> {
    const { signal } = this.#options;
    const forget = signal && onAbort(signal, () => this.#fail(abortError(signal)));
    let checkpoint: OpenCheckpoint | undefined;
    try {
      this.#tally.begin();
      checkpoint = this.#stop.signal.aborted ? undefined : await openCheckpoint(this.#options.checkpoint);
      void this.#read(checkpoint);
      for (let next = await this.#next(); next; next = await this.#next()) yield next;
    } catch (error) {
      this.#fail(error);
    } finally {
      forget?.();
      await this.#wind(checkpoint);
    }
  }

  summary(): BulkSummary {
    return this.#tally.summary();
  }

  /** The next result; undefined once there will be none. */
  async #next(): Promise<BulkResult<Row, Value> | undefined> {
    this.#wake();
    for (;;) {
      const result = this.#ended.shift();
      this.#isTaken = result !== undefined;
      if (result) return result;
      if (this.#underWay === 0 && (this.#isReadingOver || this.#stop.signal.aborted)) return undefined;
      await this.#change();
    }
  }

  /** Begins nothing more, and is over when what is in flight has ended and all is closed. Rejects with the first failure. */
  async #wind(checkpoint: OpenCheckpoint | undefined): Promise<void> {
    this.#stop.abort();
    this.#wake();
    while (this.#underWay > 0) await this.#change();
    await this.#heed(() => checkpoint?.close());
    await this.#heed(() => this.#source.close());
    if (!this.#failure) return;
    const { error } = this.#failure;
    // A row that was sent has an end.
    if (error instanceof AbortError && !this.#tally.done) Object.assign(error, { outcome: "not-sent" });
    throw error;
  }

  get #hasRoom(): boolean {
    const { concurrency = defaultConcurrency } = this.#options;
    return this.#underWay + this.#ended.length + Number(this.#isTaken) < concurrency;
  }

  async #read(checkpoint: OpenCheckpoint | undefined): Promise<void> {
    const { signal: stop } = this.#stop;
    const takeIn = intake(this.#options, {
      checkpoint,
      stop,
      onRecordFailure: (error) => this.#fail(error),
    });
    await this.#heed(async () => {
      for (let index = 0; ; index++) {
        while (!this.#hasRoom && !stop.aborted) await this.#change();
        if (stop.aborted) return;
        const next = await this.#source.next();
        if (stop.aborted || next.done) return;
        if (this.#client.isClosed()) throw closedError();
        await this.#takeIn(takeIn, next.value, index);
      }
    });
    this.#isReadingOver = true;
    this.#wake();
  }

  /** Resolves when the row's call has begun. A row whose run is stopped before that has no end, and no result. */
  async #takeIn(next: Intake<Row>, item: Row, index: number): Promise<void> {
    this.#underWay++;
    let row: ReadyRow | undefined;
    await this.#heed(async () => (row = await next(item, index)));
    if (row === undefined || this.#stop.signal.aborted) this.#underWay--;
    else if ("end" in row) this.#end({ index, key: row.key, item, ...row.end }, row.isNews);
    else void this.#carryOut(row, item, index);
  }

  async #carryOut(
    { key, companion }: { key: string; companion: RowCompanion },
    item: Row,
    index: number,
  ): Promise<void> {
    const end = await callRow(item, key, { call: this.#call, companion });
    if (!this.#isTurnedAway(end, companion)) return this.#end({ index, key, item, ...end }, true);
    this.#underWay--;
    this.#wake();
  }

  /** A row that only waited when the run was stopped, or the client closed, has no end: nothing of it was sent. */
  #isTurnedAway({ error }: RowEnd<Value>, { hasSent }: RowCompanion): boolean {
    if (hasSent || !isAudienceError(error)) return false;
    const isClosed = error.code === "rate_limit_wait" && this.#client.isClosed();
    if (isClosed) this.#fail(error);
    return isClosed || (error.code === "aborted" && this.#stop.signal.aborted);
  }

  #end(result: BulkResult<Row, Value>, isNews: boolean): void {
    this.#tally.add(result.status);
    this.#underWay--;
    this.#ended.push(result);
    if (isNews && "error" in result) this.#judge(result.error);
    this.#reportProgress();
    this.#wake();
  }

  /** Whether the error is one that every other row would meet too. */
  #judge(error: unknown): void {
    if (this.#stop.signal.aborted) return;
    try {
      if (this.#stopsAt(error)) this.#fail(error);
    } catch (thrown) {
      this.#fail(thrown);
    }
  }

  #stopsAt(error: unknown): boolean {
    // A row of several calls may have been in the middle of them when the client was closed.
    const isClosed = this.#client.isClosed() && isAudienceError(error) && error.code === "rate_limit_wait";
    return isClosed || isStop(error, this.#options.stopWhen);
  }

  /** The first failure of the run is the one it ends with. */
  #fail(error: unknown): void {
    this.#failure ??= { error };
    this.#stop.abort(error);
    this.#wake();
  }

  async #heed(work: () => unknown): Promise<void> {
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
      void tell(onProgress, this.#tally.progress(total, { underWay: this.#underWay, estimateMs }));
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

function abortError(signal: AbortSignal): AbortError {
  return new AbortError({ message: "The run was aborted.", outcome: "unknown", cause: reasonOf(signal) });
}
