import Bottleneck from "bottleneck/light.js";
import { AbortError, ClientClosedError } from "../errors.ts";
import { onAbort, untilAborted } from "../transport/abort.ts";
import type { ClientState } from "../transport/client-state.ts";
import { type BulkCall, type BulkOptions, endsRun } from "./bulk-options.ts";
import { type RecordedRun, openRecordedRun } from "./checkpoint.ts";
import { ConsentLog } from "./consent-log.ts";
import { ProgressCounter } from "./progress.ts";
import type { BulkResult, RowEnd } from "./result.ts";
import { RowCalls, type RunOfRows } from "./row-calls.ts";
import { type ReadRow, RowReader, type RowSource } from "./row-source.ts";

const acquired = async () => undefined;

/**
 * Sends the rows of a run, a few at a time: `RowReader` reads a row with its record, `RowCalls` makes its calls and
 * records its end, and the caller gets its result.
 */
export class BulkRunner<Row, Value> {
  readonly #source: RowSource<Row>;
  readonly #call: BulkCall<Row, PromiseLike<Value>>;
  readonly #options: BulkOptions<Row>;
  readonly #client: ClientState;
  readonly progress = new ProgressCounter();
  readonly #consents = new ConsentLog();
  /** A row holds one, a unit of the reservoir (D63), from its reading until the caller has finished with its result. */
  readonly #slots: Bottleneck;
  /** Once it is aborted, no further row starts. */
  readonly #stop = new AbortController();
  readonly #runOfRows: RunOfRows<Row>;
  /** The results that the caller has not finished with. */
  readonly #results: { result: BulkResult<Row, Value>; release: () => void }[] = [];
  #onResult: (() => void) | undefined;
  #isEverythingRead = false;
  /** The caller has left the loop. */
  #isLeft = false;
  #failure: { error: unknown } | undefined;

  constructor(
    source: RowSource<Row>,
    call: BulkCall<Row, PromiseLike<Value>>,
    options: BulkOptions<Row>,
    client: ClientState,
  ) {
    this.#source = source;
    this.#call = call;
    this.#options = options;
    this.#client = client;
    this.#runOfRows = {
      stop: this.#stop.signal,
      consents: this.#consents,
      isCurrent: options.isCurrent ?? (() => true),
      takesRequest: this.#call.length > 1,
      fail: (error) => this.#fail(error),
    };
    this.#slots = new Bottleneck({ reservoir: options.concurrency ?? 10 });
  }

  /** Every row's result; rejects at the end with the failure of the run. If the loop is left, requests in flight end. */
  async *results(): AsyncGenerator<BulkResult<Row, Value>, void, undefined> {
    const { signal } = this.#options;
    const fail = (error: unknown) => this.#fail(error);
    const message = "The run was aborted.";
    const removeCallbacks = [
      signal &&
        onAbort(signal, () => fail(new AbortError({ message, outcome: "unknown", cause: signal.reason }))),
      onAbort(this.#client.closing.signal, () => fail(new ClientClosedError("unknown"))),
    ];
    const unwatch = this.#client.watchConsent(this.#consents);
    let recorded: RecordedRun | undefined;
    let sending: Promise<void> | undefined;
    let isWhole = false;
    try {
      this.progress.startedAt = performance.now();
      recorded = await this.#openCheckpoint();
      sending = this.#sendRows(recorded);
      yield* this.#resultsUntil(sending);
      isWhole = this.#isEverythingRead;
    } catch (error) {
      this.#fail(error);
    } finally {
      for (const removeCallback of removeCallbacks) removeCallback?.();
      this.#stop.abort();
      this.#isLeft = true;
      for (const { release } of this.#results) release();
      await sending;
      unwatch();
      await this.#consents.recorded();
      if (isWhole && !this.#failure) await this.#failOnError(() => recorded?.complete());
      await this.#failOnError(() => recorded?.close());
      await this.#failOnError(() => this.#source.close());
      this.#throwFailure();
    }
  }

  async #openCheckpoint(): Promise<RecordedRun | undefined> {
    const { checkpoint, key } = this.#options;
    const { signal } = this.#stop;
    if (!checkpoint || signal.aborted) return undefined;
    const onFailure = (error: unknown) => this.#fail(error);
    const opening = openRecordedRun(checkpoint, { isKeyed: key !== undefined, onFailure });
    try {
      const recorded = await untilAborted(opening, signal);
      await this.#consents.recordIn(recorded);
      return recorded;
    } catch (error) {
      // It may open after the end of the run.
      if (signal.aborted) opening.then((late) => late.close()).catch(() => undefined);
      throw error;
    }
  }

  async *#resultsUntil(over: Promise<void>): AsyncGenerator<BulkResult<Row, Value>, void, undefined> {
    let isOver = false;
    void over.then(() => {
      isOver = true;
      this.#onResult?.();
    });
    for (;;) {
      const [next] = this.#results;
      if (next) {
        yield next.result;
        this.#results.shift();
        next.release();
      } else if (isOver) return;
      else await new Promise<void>((resolve) => (this.#onResult = resolve));
    }
  }

  /** Starts one row after the other, each as soon as it has a slot. Resolves when all have ended. */
  async #sendRows(recorded: RecordedRun | undefined): Promise<void> {
    const reader = new RowReader(this.#source, this.#options, recorded);
    const { signal } = this.#stop;
    const underWay = new Set<Promise<void>>();
    try {
      for (;;) {
        await untilAborted(this.#slots.schedule(acquired), signal);
        const row = await this.#nextRow(reader);
        if (!row) break;
        const sending = this.#sendRow(row, reader).catch((error: unknown) => this.#fail(error));
        underWay.add(sending);
        void sending.then(() => {
          underWay.delete(sending);
          return this.#slots.incrementReservoir(1);
        });
      }
    } catch (error) {
      // The end of the run interrupts the reading.
      if (!signal.aborted) this.#fail(error);
    }
    await Promise.all(underWay);
  }

  /** The life of a row in its slot: it is sent, recorded, and its result given to the caller. Starts at once. */
  async #sendRow(row: ReadRow<Row>, reader: RowReader<Row>): Promise<void> {
    const { item, key } = row;
    const calls = new RowCalls(row, this.#runOfRows);
    const ended = calls.run(() => {
      if (key.problem) throw key.problem.error;
      return this.#client.withAmbientOptions(calls.request, () => this.#call(item, calls.request));
    });
    void reader.began(row, ended);
    const end = await ended;
    if (!end) return void this.progress.underWay--;
    if (end.status !== "superseded" && "error" in end && !calls.wasRefused) this.#stopIfNeeded(end.error);
    await this.#end(row, end);
  }

  /** Reads up to the next row that is to be sent; the rows before it have ended in an earlier run. */
  async #nextRow(reader: RowReader<Row>): Promise<ReadRow<Row> | undefined> {
    const { signal } = this.#stop;
    for (;;) {
      const row = await untilAborted(reader.next(), signal);
      if (!row) {
        this.#isEverythingRead = true;
        return undefined;
      }
      this.progress.underWay++;
      const { earlierEnd } = row.record;
      if (!earlierEnd) return row;
      await this.#end(row, earlierEnd);
    }
  }

  /** Resolves when the caller has finished with the result. */
  async #end({ index, item, key: { key } }: ReadRow<Row>, end: RowEnd<Value>): Promise<void> {
    const { onProgress, total = this.#source.length } = this.#options;
    this.progress.underWay--;
    this.progress.add(end.status);
    if (onProgress) {
      const progress = this.progress.progress(total, this.#client.limiter);
      // As with hooks, an error or a rejection of `onProgress` changes nothing.
      void (async () => onProgress(progress))().catch(() => undefined);
    }
    if (this.#isLeft) return;
    await new Promise<void>((release) => {
      this.#results.push({ result: { index, key, item, ...end }, release });
      this.#onResult?.();
    });
  }

  /** Ends the run if every other row would meet the error too. */
  #stopIfNeeded(error: unknown): void {
    if (this.#stop.signal.aborted) return;
    try {
      if (endsRun(error, this.#options.stopWhen)) this.#fail(error);
    } catch (thrown) {
      this.#fail(thrown);
    }
  }

  /** The run ends with its first failure. */
  #fail(error: unknown): void {
    this.#failure ??= { error };
    this.#stop.abort(error);
  }

  async #failOnError(work: () => unknown): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#fail(error);
    }
  }

  #throwFailure(): void {
    if (!this.#failure) return;
    const { error } = this.#failure;
    // Every row that was sent has an end.
    const isInterruption = error instanceof AbortError || error instanceof ClientClosedError;
    if (isInterruption && !this.progress.done) Object.assign(error, { outcome: "not-sent" });
    throw error;
  }
}
