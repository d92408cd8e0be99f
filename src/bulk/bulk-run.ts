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
import { RunEnd, type RunParts, RunWarnings } from "./run-parts.ts";
import { RunRecord } from "./run-record.ts";
import { type SendingRun, sendRow } from "./send-row.ts";
import { runWorkers } from "./workers.ts";

const unknownPeopleWarning =
  "rows that subscribed somebody of whom nothing was known, as no snapshot has them";

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
  readonly #results = new ResultQueue<BulkResult<Row, Value>>();
  #ended: Promise<BulkSummary> | undefined;
  #isIterated = false;

  /** @internal */
  constructor(rows: Rows<Row>, options: BulkSettings<Row>) {
    const { settings, transport } = options.opened;
    this.#rows = rows;
    this.#parts = {
      options,
      runEnd: new RunEnd(options.signal, transport.client.closing.signal),
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
    const ended = this.#runToEnd();
    try {
      yield* this.#results.untilOver();
    } finally {
      this.#parts.runEnd.leave();
      this.#results.end();
      await ended;
    }
  }

  /** The summary. Starts the run if it is not iterated; rejects with the failure of the run. */
  async summary(): Promise<BulkSummary> {
    const ended = this.#runToEnd();
    // A loop that begins in the same tick comes first.
    await Promise.resolve();
    if (!this.#isIterated) this.#results.end();
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

  /** As that of a promise. */
  catch<Failure = never>(
    onRejected?: ((reason: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<BulkSummary | Failure> {
    return this.summary().catch(onRejected);
  }

  /** As that of a promise. */
  finally(onFinally?: (() => void) | null): Promise<BulkSummary> {
    return this.summary().finally(onFinally);
  }

  /** Asks for the first row. A run that has ended before it begins reads none. */
  #start(): void {
    if (!this.#ended && !this.#parts.runEnd.stop.aborted) this.#rows.start();
  }

  #runToEnd(): Promise<BulkSummary> {
    this.#start();
    this.#ended ??= this.#run().finally(() => this.#results.end());
    // Whoever iterates the run gets its failure from the loop.
    this.#ended.catch(() => undefined);
    return this.#ended;
  }

  async #run(): Promise<BulkSummary> {
    const { progress, runEnd, warnings } = this.#parts;
    progress.times.began = performance.now();
    const openingRecord = this.#openRecord();
    const processGuard = new ProcessGuard(this.#parts, openingRecord);
    // Before the checkpoint is open: the run counts a refusal of another call that is under way.
    const stopListening = listenToConsents(processGuard);
    let record: RunRecord | undefined;
    await runEnd.failOnError(async () => {
      record = await openingRecord;
      await this.#sendRows(record, processGuard);
    });
    stopListening();
    await processGuard.recorded;
    // A run that nothing stopped has ended every row, and the caller has finished with its result.
    if (!runEnd.stop.aborted) await runEnd.failOnError(() => record?.complete());
    await runEnd.failOnError(() => record?.close());
    await runEnd.failOnError(() => this.#rows.close());
    if (progress.unknownPeople > 0) warnings.warnOnce(`${unknownPeopleWarning}: ${progress.unknownPeople}`);
    progress.times.ended = performance.now();
    runEnd.throwFailure(progress.done === 0);
    return progress.summary();
  }

  async #openRecord(): Promise<RunRecord | undefined> {
    const { options, runEnd } = this.#parts;
    await options.snapshot?.checkFor(options.target, runEnd.stop);
    if (!options.checkpoint || runEnd.stop.aborted) return undefined;
    const openingRecord = RunRecord.open(options.checkpoint, options, runEnd);
    try {
      return await untilAborted(openingRecord, runEnd.stop);
    } catch (error) {
      // The record may have been opened, or open after the end of the run.
      openingRecord.then((record) => record.close()).catch(() => undefined);
      throw error;
    }
  }

  async #sendRows(record: RunRecord | undefined, processGuard: ProcessGuard): Promise<void> {
    const { concurrency, isCurrent, snapshot } = this.#parts.options;
    // In the order in which the guards of a row are asked.
    const guards = [
      ...(isCurrent ? [new IsCurrentGuard(isCurrent)] : []),
      // Only a record and a snapshot know an id by which to look.
      ...(record || snapshot ? [new ServiceGuard(this.#parts, processGuard)] : []),
    ];
    const sendingRun = { ...this.#parts, guards, processGuard, record, turns: new Turns() };
    await runWorkers(concurrency, () => this.#beginNextRow(sendingRun));
  }

  async #beginNextRow(run: SendingRun): Promise<{ ended: Promise<void> } | undefined> {
    const { failRun, stop: signal } = this.#parts.runEnd;
    try {
      signal.throwIfAborted();
      const row = await untilAborted(this.#rows.next(), signal);
      return row && { ended: this.#takeRow(row, run).catch(failRun) };
    } catch (error) {
      // The end of the run interrupts the reading of its rows.
      if (!signal.aborted) failRun(error);
      return undefined;
    }
  }

  /** The life of a row. Its turn is taken at once, as it must go after earlier rows with its key or its contacts. */
  async #takeRow(row: ReadRow<Row>, run: SendingRun): Promise<void> {
    const turnKeys = row.writes.flatMap((write) => write.contacts);
    if (row.key !== undefined) turnKeys.push(`row:${row.key}`);
    this.#parts.progress.rowsBegun++;
    const sending = run.turns.take(turnKeys, async (before) => {
      // Earlier rows end with the run.
      await before;
      return await sendRow(row, run);
    });
    const rowEnd = await sending.catch((error: unknown) =>
      isInvalid(error) ? ({ status: "invalid", error } as const) : ({ status: "failed", error } as const),
    );
    if (!rowEnd) return;
    const { status, error } = rowEnd;
    if (status === "failed" || status === "invalid" || status === "unknown") this.#endRunBy(error);
    // Safe: the values are those of the caller's writes.
    await this.#giveResult(row, rowEnd as RowEnd<Value>);
  }

  /** Ends the run if every other row would meet the error too: of a look, what the service said to it. */
  #endRunBy(error: unknown): void {
    const { options, runEnd } = this.#parts;
    const rowError = error instanceof LookError ? error.cause : error;
    void runEnd.failOnError(() => {
      if (!runEnd.stop.aborted && endsRun(rowError, options.stopWhen)) throw rowError;
    });
  }

  async #giveResult({ index, item, key = String(index) }: ReadRow<Row>, end: RowEnd<Value>): Promise<void> {
    const { options, progress, warnings } = this.#parts;
    const { estimateMs, onProgress, opened, total = this.#rows.length } = options;
    progress.add(end);
    if (onProgress) {
      const rowProgress = progress.progress(total, estimateMs);
      // As with hooks, an error or a rejection of `onProgress` changes nothing.
      void (async () => onProgress(rowProgress))().catch((error: unknown) =>
        warnings.warnOnce("onProgress", () => opened.settings.observer.failed("onProgress", error)),
      );
    }
    await this.#results.give({ index, key, item, ...end });
  }
}
