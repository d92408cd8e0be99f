import { untilAborted } from "../transport/abort.ts";
import { listenToConsents } from "../transport/consent-registry.ts";
import { type BulkSettings, checkSnapshot, endsRun } from "./bulk-options.ts";
import type { GuardedRow } from "./guards/guard.ts";
import { IsCurrentGuard } from "./guards/is-current.ts";
import { ProcessGuard } from "./guards/process.ts";
import { RunGuard } from "./guards/run.ts";
import { isUnknown, judgedError, ServiceGuard } from "./guards/service.ts";
import {
  type BulkResult,
  type BulkSummary,
  isInvalid,
  ProgressCounter,
  ResultQueue,
  type RowEnd,
} from "./result.ts";
import { RowLogs } from "./row-log.ts";
import type { ReadRow, Rows } from "./rows.ts";
import { RunEnd, RunWarnings } from "./run-end.ts";
import { RunRecord } from "./run-record.ts";
import { SendRow, type SharedByRows } from "./send-row.ts";
import { type BegunTask, Turns, Workers } from "./workers.ts";

/** Undefined for a row that only waited for the end of the run. */
type End = RowEnd<unknown> | undefined;

/**
 * Sends the rows of a run, a few at a time. `Rows` reads a row with its writes; here it takes its turn and is compared with
 * its record; `SendRow` sends it; its end is recorded, and the caller gets its result.
 */
export class Run<Row, Value> {
  readonly progress = new ProgressCounter();
  readonly #rows: Rows<Row>;
  readonly #options: BulkSettings<Row>;
  readonly #end: RunEnd;
  readonly #turns = new Turns();
  readonly #earlierRows = new RunGuard();
  readonly #results = new ResultQueue<BulkResult<Row, Value>>();
  readonly #warnings: RunWarnings;
  #ended: Promise<BulkSummary> | undefined;
  #isEverythingRead = false;
  /** Every row has ended, and the caller has finished with its result. */
  #isOver = false;

  constructor(rows: Rows<Row>, options: BulkSettings<Row>) {
    this.#rows = rows;
    this.#options = options;
    this.#warnings = new RunWarnings(options.opened.settings.observer);
    this.#end = new RunEnd(options.signal, options.opened.transport.client.closing.signal);
  }

  /** Asks for the first row, once. A run that has ended before it begins reads none. */
  start(): void {
    if (!this.#end.stop.aborted) this.#rows.start();
  }

  /** Runs once, to its end, and gives its summary; rejects with the failure of the run. */
  toEnd(): Promise<BulkSummary> {
    this.start();
    this.#ended ??= this.#run();
    // Whoever takes the results gets the failure from the loop.
    this.#ended.catch(() => undefined);
    return this.#ended;
  }

  /** Yields every row's result; rejects with the failure of the run. If the loop is left, requests in flight end. */
  async *results(): AsyncGenerator<BulkResult<Row, Value>, void, undefined> {
    const ended = this.toEnd();
    try {
      yield* this.#results.until(ended);
    } finally {
      this.#end.leave(this.#isOver);
      this.takeNoResults();
      await ended;
    }
  }

  /** The results are not waited for. */
  takeNoResults(): void {
    this.#results.leave();
  }

  async #run(): Promise<BulkSummary> {
    this.progress.begin();
    const opening = this.#openRecord();
    const processGuard = new ProcessGuard(this.#options.target, opening, this.#warnings.sayOnce);
    // Before the checkpoint is open: a refusal that is under way is one of the run.
    const stopListening = listenToConsents(processGuard);
    let record: RunRecord | undefined;
    await this.#end.failOnError(async () => {
      record = await opening;
      await this.#sendRows(record, processGuard);
    });
    this.#isOver = this.#isEverythingRead && !this.#end.stop.aborted;
    this.#end.leave(this.#isOver);
    await processGuard.settled();
    if (this.#isOver && !this.#end.hasFailed) await this.#end.failOnError(() => record?.complete());
    await this.#end.failOnError(() => record?.close());
    stopListening();
    await this.#end.failOnError(() => this.#rows.close());
    this.#warnings.end();
    this.progress.end();
    this.#end.settle(this.progress.done === 0);
    return this.progress.summary();
  }

  /** Undefined without a checkpoint. */
  async #openRecord(): Promise<RunRecord | undefined> {
    const { checkpoint, key, snapshot, target } = this.#options;
    const { stop: signal, fail: onFailure } = this.#end;
    if (snapshot) await checkSnapshot(snapshot, target, signal);
    if (!checkpoint || signal.aborted) return undefined;
    const { waitsForCheckpoint: onWait } = this.#warnings;
    const owner = { isKeyed: key !== undefined, target, signal };
    const opening = RunRecord.open(checkpoint, owner, { onFailure, onWait });
    try {
      return await untilAborted(opening, signal);
    } catch (error) {
      // It may have been opened, or open after the end of the run.
      opening.then((opened) => opened.close()).catch(() => undefined);
      throw error;
    }
  }

  /** Each row has a worker, from its reading until the caller has finished with its result. */
  async #sendRows(record: RunRecord | undefined, processGuard: ProcessGuard): Promise<void> {
    const logs = new RowLogs(record, this.#options);
    const shared = this.#sharedByRows(record !== undefined, processGuard);
    const send = async (row: ReadRow<Row>): Promise<End> => {
      if (row.problem) throw row.problem.error;
      if (this.#end.stop.aborted) return undefined;
      if (row.writes.length === 0) return { status: "skipped" };
      const log = await logs.open(row);
      const guarded: GuardedRow = { ...row, recordedId: log.before?.id };
      if (log.isDone) {
        this.#earlierRows.learn(guarded);
        const kept = log.before?.kept;
        return { status: "skipped", ...(kept && { kept }) };
      }
      await processGuard.recall(guarded);
      return await new SendRow(guarded, log, shared).send();
    };
    await new Workers(this.#options.concurrency, () => this.#beginNextRow(send)).run();
  }

  #sharedByRows(hasRecord: boolean, processGuard: ProcessGuard): SharedByRows {
    const { isCurrent, opened, snapshot } = this.#options;
    const { stop } = this.#end;
    const countCall = (): void => void this.progress.calls++;
    const notShown = (channel: string) =>
      this.#warnings.sayOnce(
        `the service shows no consent of ${channel} that is documented: rows are not judged by it`,
      );
    return {
      opened,
      stop,
      listener: processGuard,
      countCall,
      wasSent: this.#wasSent,
      // In the order in which they are asked; of two words at one moment the first guard's counts.
      guards: [
        ...(isCurrent ? [new IsCurrentGuard(isCurrent)] : []),
        // Only a record and a snapshot know an id by which to look.
        ...(hasRecord || snapshot ? [new ServiceGuard(this.#options, { stop, countCall, notShown })] : []),
        this.#earlierRows,
        processGuard,
      ],
    };
  }

  async #beginNextRow(send: (row: ReadRow<Row>) => Promise<End>): Promise<BegunTask | undefined> {
    const { fail, stop: signal } = this.#end;
    try {
      signal.throwIfAborted();
      const row = await untilAborted(this.#rows.next(), signal);
      this.#isEverythingRead = !row;
      return row && { ended: this.#takeRow(row, send).catch(fail) };
    } catch (error) {
      // The end of the run interrupts the reading.
      if (!signal.aborted) fail(error);
      return undefined;
    }
  }

  /** The life of a row. Takes its turn at once, as it must go after the rows before it that have its key or its contacts. */
  async #takeRow(row: ReadRow<Row>, send: (row: ReadRow<Row>) => Promise<End>): Promise<void> {
    const keys = [
      ...(row.key === undefined ? [] : [`row:${row.key}`]),
      ...row.writes.flatMap((write) => write.contacts),
    ];
    const turn = this.#turns.take(keys);
    this.progress.underWay++;
    let end: End;
    try {
      // The rows before it end with the run.
      await turn.before;
      end = await send(row);
    } catch (error) {
      end = isInvalid(error) ? { status: "invalid", error } : { status: "failed", error };
    } finally {
      turn.end();
      this.progress.underWay--;
    }
    if (!end) return;
    if (end.status === "failed" || end.status === "invalid" || end.status === "unknown")
      this.#stopIfNeeded(judgedError(end.error));
    // Safe: the values are those of the caller's writes.
    await this.#giveResult(row, end as RowEnd<Value>);
  }

  readonly #wasSent: SharedByRows["wasSent"] = (row, hasSubscribed, formerId) => {
    this.#earlierRows.learn(row);
    if (hasSubscribed && isUnknown(row, this.#options, formerId)) this.#warnings.unknownPeople++;
    if (formerId === undefined) return;
    this.#warnings.sayOnce(
      "a row names another contact than under its key before: `formerId` is the one that is left as it is",
    );
  };

  /** Ends the run if every other row would meet the error too. */
  #stopIfNeeded(error: unknown): void {
    const { fail, stop } = this.#end;
    if (stop.aborted) return;
    try {
      if (endsRun(error, this.#options.stopWhen)) fail(error);
    } catch (thrown) {
      fail(thrown);
    }
  }

  /** Resolves when the caller has finished with the result. */
  async #giveResult({ index, item, key = String(index) }: ReadRow<Row>, end: RowEnd<Value>): Promise<void> {
    const { estimateMs, onProgress, total = this.#rows.length } = this.#options;
    this.progress.add(end);
    if (onProgress) {
      const soFar = this.progress.progress(total, estimateMs);
      // As with hooks, an error or a rejection of `onProgress` changes nothing.
      void (async () => onProgress(soFar))().catch((error: unknown) => this.#warnings.failed(error));
    }
    await this.#results.give({ index, key, item, ...end });
  }
}
