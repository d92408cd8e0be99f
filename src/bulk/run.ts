import type { OpenedClient } from "../open-client.ts";
import type { Target } from "../organization.ts";
import { untilAborted } from "../transport/abort.ts";
import { listenToConsents } from "../transport/consent-registry.ts";
import { type BulkSettings, checkSnapshot, endsRun } from "./bulk-options.ts";
import type { Guard, GuardedRow } from "./guard.ts";
import { CurrentGuard } from "./guards/current.ts";
import { EarlierProcessGuard, ProcessGuard } from "./guards/process.ts";
import { RunGuard } from "./guards/run.ts";
import { isUnknown, judgedError, ServiceGuard } from "./guards/service.ts";
import { RunRecord } from "./record.ts";
import {
  type BulkResult,
  type EstimateMs,
  isInvalid,
  ProgressCounter,
  ResultQueue,
  type RowEnd,
} from "./result.ts";
import { RowLogs } from "./row-log.ts";
import type { ReadRow, Rows } from "./rows.ts";
import { RunEnd, RunWarnings } from "./run-end.ts";
import { SendRow, type SharedByRows } from "./send-row.ts";
import { type BegunTask, Turns, Workers } from "./workers.ts";

/** The options of a run, with what its client adds. */
export type RunOptions<Row> = BulkSettings<Row> & {
  readonly opened: OpenedClient;
  readonly target: Target;
  /** Undefined without a rate limiter. */
  readonly estimateMs: EstimateMs | undefined;
};

/** Undefined for a row that only waited for the end of the run. */
type End = RowEnd<unknown> | undefined;

/**
 * Sends the rows of a run, a few at a time. `Rows` reads a row with its writes; here it takes its turn and is compared with
 * its record; `SendRow` sends it; its end is recorded, and the caller gets its result.
 */
export class Run<Row, Value> {
  readonly progress = new ProgressCounter();
  readonly #rows: Rows<Row>;
  readonly #options: RunOptions<Row>;
  readonly #end: RunEnd;
  readonly #turns = new Turns();
  readonly #earlierRows = new RunGuard();
  readonly #results = new ResultQueue<BulkResult<Row, Value>>();
  readonly #warnings: RunWarnings;
  #isEverythingRead = false;

  constructor(rows: Rows<Row>, options: RunOptions<Row>) {
    this.#rows = rows;
    this.#options = options;
    this.#warnings = new RunWarnings(options.opened.settings.observer);
    this.#end = new RunEnd(options.signal, options.opened.transport.client.closing.signal);
  }

  /** Asks for the first row, once. A run that has ended before it begins reads none. */
  start(): void {
    if (!this.#end.stop.aborted) this.#rows.start();
  }

  /**
   * Yields every row's result; rejects at the end with the failure of the run. If the loop is left, requests in flight
   * end.
   */
  async *results(): AsyncGenerator<BulkResult<Row, Value>, void, undefined> {
    this.progress.startedAt = performance.now();
    const opening = this.#openRecord();
    const processGuard = new ProcessGuard(this.#options.target, opening, this.#warnings.sayOnce);
    // Before the checkpoint is open: a refusal that is under way is one of the run.
    const stopListening = listenToConsents(processGuard);
    let record: RunRecord | undefined;
    let sending: Promise<void> | undefined;
    let isWhole = false;
    try {
      record = await opening;
      sending = this.#sendRows(record, processGuard);
      yield* this.#results.until(sending);
      isWhole = this.#isEverythingRead;
    } catch (error) {
      this.#end.fail(error);
    } finally {
      this.#end.leave(isWhole);
      this.#results.leave();
      await sending;
      await processGuard.settled();
      if (isWhole && !this.#end.hasFailed) await this.#end.failOnError(() => record?.complete());
      await this.#end.failOnError(() => record?.close());
      stopListening();
      await this.#end.failOnError(() => this.#rows.close());
      this.#warnings.end();
      this.progress.end();
      this.#end.settle(this.progress.done === 0);
    }
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
    const shared: SharedByRows = {
      opened: this.#options.opened,
      stop: this.#end.stop,
      listener: processGuard,
      guards: this.#guards(record, processGuard),
      countCall: this.#countCall,
      wasSent: this.#wasSent,
    };
    const logs = new RowLogs(record, this.#options);
    await new Workers(this.#options.concurrency, () => this.#beginNextRow(logs, shared)).run();
  }

  /** In the order in which they are asked; of two words at one moment the first guard's counts. */
  #guards(record: RunRecord | undefined, processGuard: ProcessGuard): Guard[] {
    const { isCurrent, snapshot } = this.#options;
    const { stop } = this.#end;
    const notShown = (channel: string) =>
      this.#warnings.sayOnce(
        `the service shows no consent of ${channel} that is documented: rows are not judged by it`,
      );
    return [
      ...(isCurrent ? [new CurrentGuard(isCurrent)] : []),
      // Only these know an id by which to look.
      ...(record || snapshot
        ? [new ServiceGuard(this.#options, { stop, countCall: this.#countCall, notShown })]
        : []),
      this.#earlierRows,
      ...(record ? [new EarlierProcessGuard(record)] : []),
      processGuard,
    ];
  }

  /** Reads the next row, and begins it. */
  async #beginNextRow(logs: RowLogs<Row>, shared: SharedByRows): Promise<BegunTask | undefined> {
    const { fail, stop: signal } = this.#end;
    try {
      signal.throwIfAborted();
      const row = await untilAborted(this.#rows.next(), signal);
      this.#isEverythingRead = !row;
      return row && { ended: this.#takeRow(row, logs, shared).catch(fail) };
    } catch (error) {
      // The end of the run interrupts the reading.
      if (!signal.aborted) fail(error);
      return undefined;
    }
  }

  /** The life of a row. Takes its turn at once, as it must go after the rows before it that have its key or its contacts. */
  async #takeRow(row: ReadRow<Row>, logs: RowLogs<Row>, shared: SharedByRows): Promise<void> {
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
      end = await this.#endOf(row, logs, shared);
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

  async #endOf(row: ReadRow<Row>, logs: RowLogs<Row>, shared: SharedByRows): Promise<End> {
    try {
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
      return await new SendRow(guarded, log, shared).send();
    } catch (error) {
      if (isInvalid(error)) return { status: "invalid", error };
      return { status: "failed", error };
    }
  }

  readonly #wasSent: SharedByRows["wasSent"] = (row, hasSubscribed, formerId) => {
    this.#earlierRows.learn(row);
    if (hasSubscribed && isUnknown(row, this.#options, formerId)) this.#warnings.subscribesUnknown();
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

  readonly #countCall = (): void => void this.progress.calls++;
}
