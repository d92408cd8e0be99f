import { ConfigurationError } from "../errors.ts";
import { untilAborted } from "../transport/abort-signal.ts";
import { listenToConsents } from "../transport/consent-registry.ts";
import { Turns } from "../transport/turns.ts";
import { type BulkSettings, endsRun } from "./bulk-options.ts";
import { IsCurrentGuard } from "./guards/is-current.ts";
import { LookError, ServiceGuard } from "./guards/look.ts";
import { ProcessGuard } from "./guards/other-calls.ts";
import {
  type BulkResult,
  type BulkSummary,
  isInvalid,
  ProgressCounter,
  ResultQueue,
  type RowEnd,
} from "./result.ts";
import type { ReadRow, Rows } from "./rows.ts";
import { RunEnd, type RunParts, RunWarnings } from "./run-end.ts";
import { RunRecord } from "./run-record.ts";
import { type SendingRun, sendRow, type SentEnd } from "./send-row.ts";
import { runWorkers } from "./workers.ts";

/**
 * A run of `audience.bulk`: iterate it for every row's result, await it for its summary, or iterate it and then await it.
 *
 * Do not await it inside its loop: the summary is ready when the loop has ended.
 */
export class BulkRun<Row, Value> implements AsyncIterable<BulkResult<Row, Value>>, PromiseLike<BulkSummary> {
  // `Rows` reads a row with its writes; here it takes its turn; `sendRow` compares it with its record, sends it and records
  // its end; and the caller gets its result.
  readonly #rows: Rows<Row>;
  readonly #parts: RunParts;
  readonly #turns = new Turns();
  readonly #results = new ResultQueue<BulkResult<Row, Value>>();
  #ended: Promise<BulkSummary> | undefined;
  #isIterated = false;

  /** @internal */
  constructor(rows: Rows<Row>, options: BulkSettings<Row>) {
    const { settings, transport } = options.opened;
    this.#rows = rows;
    this.#parts = {
      options,
      end: new RunEnd(options.signal, transport.client.closing.signal),
      progress: new ProgressCounter(),
      warnings: new RunWarnings(settings.observer),
    };
  }

  /** The summary so far, at any time: also after a run that was stopped. */
  get counts(): BulkSummary {
    return this.#parts.progress.summary();
  }

  /** Starts the run. A run is iterated once. If the loop is left, requests in flight end. */
  async *[Symbol.asyncIterator](): AsyncGenerator<BulkResult<Row, Value>, void, undefined> {
    if (this.#isIterated) throw new ConfigurationError("A bulk run is iterated once.");
    this.#isIterated = true;
    const ended = this.#toEnd();
    try {
      yield* this.#results.until(ended);
    } finally {
      this.#parts.end.leave();
      this.#results.leave();
      await ended;
    }
  }

  /** The summary. Starts the run if it is not iterated; rejects with the failure of the run. */
  async summary(): Promise<BulkSummary> {
    const ended = this.#toEnd();
    // A loop that begins in the same tick comes first.
    await Promise.resolve();
    if (!this.#isIterated) this.#results.leave();
    this.#isIterated = true;
    return await ended;
  }

  /** `await run` is `await run.summary()`. */
  // oxlint-disable-next-line unicorn/no-thenable -- a run that is neither awaited nor iterated sends nothing.
  get then(): <Result = BulkSummary, Failure = never>(
    onFulfilled?: ((summary: BulkSummary) => Result | PromiseLike<Result>) | null,
    onRejected?: ((reason: unknown) => Failure | PromiseLike<Failure>) | null,
  ) => Promise<Result | Failure> {
    // `await` reads this at once, and calls it some microtasks later: an emitter may have emitted rows by then (D101).
    this.#start();
    return (onFulfilled, onRejected) => this.summary().then(onFulfilled, onRejected);
  }

  /** Asks for the first row. A run that has ended before it begins reads none. */
  #start(): void {
    if (!this.#ended && !this.#parts.end.stop.aborted) this.#rows.start();
  }

  #toEnd(): Promise<BulkSummary> {
    this.#start();
    this.#ended ??= this.#run();
    // Whoever takes the results gets the failure from the loop.
    this.#ended.catch(() => undefined);
    return this.#ended;
  }

  async #run(): Promise<BulkSummary> {
    const { end, progress, warnings } = this.#parts;
    progress.times.began = performance.now();
    const opening = this.#openRecord();
    const process = new ProcessGuard(this.#parts, opening);
    // Before the checkpoint is open: a refusal that is under way is one of the run.
    const stopListening = listenToConsents(process);
    let record: RunRecord | undefined;
    await end.failOnError(async () => {
      record = await opening;
      await this.#sendRows(record, process);
    });
    stopListening();
    await process.recorded;
    // A run that nothing stopped has ended every row, and the caller has finished with its result.
    if (!end.stop.aborted) await end.failOnError(() => record?.complete());
    await end.failOnError(() => record?.close());
    await end.failOnError(() => this.#rows.close());
    warnings.end();
    progress.times.ended = performance.now();
    end.settle(progress.done === 0);
    return progress.summary();
  }

  async #openRecord(): Promise<RunRecord | undefined> {
    const { end, options } = this.#parts;
    await options.snapshot?.checkFor(options.target, end.stop);
    if (!options.checkpoint || end.stop.aborted) return undefined;
    const opening = RunRecord.open(options.checkpoint, options, end);
    try {
      return await untilAborted(opening, end.stop);
    } catch (error) {
      // It may have been opened, or open after the end of the run.
      opening.then((opened) => opened.close()).catch(() => undefined);
      throw error;
    }
  }

  async #sendRows(record: RunRecord | undefined, process: ProcessGuard): Promise<void> {
    const { concurrency, isCurrent, snapshot } = this.#parts.options;
    // In the order in which they are asked.
    const guards = [
      ...(isCurrent ? [new IsCurrentGuard(isCurrent)] : []),
      // Only a record and a snapshot know an id by which to look.
      ...(record || snapshot ? [new ServiceGuard(this.#parts, process)] : []),
    ];
    const run = { ...this.#parts, guards, process, record, turns: this.#turns };
    await runWorkers(concurrency, () => this.#beginNextRow(run));
  }

  async #beginNextRow(run: SendingRun): Promise<{ ended: Promise<void> } | undefined> {
    const { fail, stop: signal } = this.#parts.end;
    try {
      signal.throwIfAborted();
      const row = await untilAborted(this.#rows.next(), signal);
      return row && { ended: this.#takeRow(row, run).catch(fail) };
    } catch (error) {
      // The end of the run interrupts the reading.
      if (!signal.aborted) fail(error);
      return undefined;
    }
  }

  /** The life of a row. Takes its turn at once, as it must go after the rows before it that have its key or its contacts. */
  async #takeRow(row: ReadRow<Row>, run: SendingRun): Promise<void> {
    const keys = row.writes.flatMap((write) => write.contacts);
    if (row.key !== undefined) keys.push(`row:${row.key}`);
    this.#parts.progress.underWay++;
    let end: SentEnd;
    try {
      end = await this.#turns.take(keys, async (before) => {
        // The rows before it end with the run.
        await before;
        return await sendRow(row, run);
      });
    } catch (error) {
      end = isInvalid(error) ? { status: "invalid", error } : { status: "failed", error };
    } finally {
      this.#parts.progress.underWay--;
    }
    if (!end) return;
    if (end.status === "failed" || end.status === "invalid" || end.status === "unknown")
      this.#judge(end.error);
    // Safe: the values are those of the caller's writes.
    await this.#giveResult(row, end as RowEnd<Value>);
  }

  /** Ends the run if every other row would meet the error too: of a look, what the service said to it. */
  #judge(error: unknown): void {
    const { end, options } = this.#parts;
    const judged = error instanceof LookError ? error.cause : error;
    void end.failOnError(() => {
      if (!end.stop.aborted && endsRun(judged, options.stopWhen)) throw judged;
    });
  }

  async #giveResult({ index, item, key = String(index) }: ReadRow<Row>, end: RowEnd<Value>): Promise<void> {
    const { options, progress, warnings } = this.#parts;
    const { estimateMs, onProgress, opened, total = this.#rows.length } = options;
    progress.add(end);
    if (onProgress) {
      const soFar = progress.progress(total, estimateMs);
      // As with hooks, an error or a rejection of `onProgress` changes nothing.
      void (async () => onProgress(soFar))().catch((error: unknown) =>
        warnings.sayOnce("onProgress", () => opened.settings.observer.failed("onProgress", error)),
      );
    }
    await this.#results.give({ index, key, item, ...end });
  }
}
