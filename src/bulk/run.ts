import type { OpenedClient } from "../open-client.ts";
import type { Target } from "../organization.ts";
import { untilAborted } from "../transport/abort.ts";
import { listenToConsents } from "../transport/consent-registry.ts";
import { type BulkSettings, endsRun } from "./bulk-options.ts";
import { checkSnapshot } from "./consent-snapshot.ts";
import type { Guard, GuardedRow } from "./guard.ts";
import { CurrentGuard } from "./guards/current.ts";
import { EarlierProcessGuard, ProcessGuard } from "./guards/process.ts";
import { RunGuard } from "./guards/run.ts";
import { idsOf, judgedError, ServiceGuard } from "./guards/service.ts";
import { lookOf } from "./look.ts";
import { RunRecord } from "./record.ts";
import { ResultQueue } from "./result-queue.ts";
import { type BulkResult, type EstimateMs, hasCode, ProgressCounter, type RowEnd } from "./result.ts";
import { type RowLog, RowLogs } from "./row-log.ts";
import type { ReadRow, Rows } from "./rows.ts";
import { RunEnd } from "./run-end.ts";
import { RunWarnings } from "./run-warnings.ts";
import { SendRow, type SentRow, type SharedByRows } from "./send-row.ts";
import { Turns } from "./turns.ts";
import { type BegunTask, Workers } from "./workers.ts";

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
    const watch = new ProcessGuard(this.#options.target, opening, this.#warnings.say);
    // Before the checkpoint is open: a refusal that is under way is one of the run.
    const unwatch = listenToConsents(watch);
    let record: RunRecord | undefined;
    let sending: Promise<void> | undefined;
    let isWhole = false;
    try {
      record = await opening;
      sending = this.#sendRows(record, watch);
      yield* this.#results.until(sending);
      isWhole = this.#isEverythingRead;
    } catch (error) {
      this.#end.fail(error);
    } finally {
      this.#end.leave(isWhole);
      this.#results.leave();
      await sending;
      await watch.settled();
      if (isWhole && !this.#end.hasFailed) await this.#end.failOnError(() => record?.complete());
      await this.#end.failOnError(() => record?.close());
      unwatch();
      await this.#end.failOnError(() => this.#rows.close());
      this.#warnings.end();
      this.progress.end();
      this.#end.settle(this.progress.done === 0);
    }
  }

  async #openRecord(): Promise<RunRecord> {
    const { checkpoint, key, snapshot, target } = this.#options;
    const { stop: signal, early: end, fail: onFailure } = this.#end;
    if (snapshot) await checkSnapshot(snapshot, target, signal);
    if (!checkpoint || signal.aborted) return RunRecord.inMemory();
    const { waitsForCheckpoint: onWait } = this.#warnings;
    const ends = { signal, end, onFailure, onWait };
    const opening = RunRecord.open(checkpoint, { isKeyed: key !== undefined, target, ...ends });
    try {
      return await untilAborted(opening, signal);
    } catch (error) {
      // It may have been opened, or open after the end of the run.
      opening.then((opened) => opened.close()).catch(() => undefined);
      throw error;
    }
  }

  /** Each row has a worker, from its reading until the caller has finished with its result. */
  async #sendRows(record: RunRecord, watch: ProcessGuard): Promise<void> {
    const shared: SharedByRows = {
      opened: this.#options.opened,
      stop: this.#end.stop,
      watch,
      guards: this.#guards(record, watch),
      countCall: this.#countCall,
    };
    const logs = new RowLogs(record, this.#options);
    await new Workers(this.#options.concurrency, () => this.#beginNextRow(logs, shared)).run();
  }

  /** In the order in which they are asked; of two words at one moment the first guard's counts. */
  #guards(record: RunRecord, watch: ProcessGuard): Guard[] {
    const { checkConsent, isCurrent, opened, snapshot } = this.#options;
    const notShown = (channel: string) =>
      this.#warnings.sayOnce(
        `the service shows no consent of ${channel} that is documented: rows are not judged by it`,
      );
    return [
      ...(isCurrent ? [new CurrentGuard(isCurrent)] : []),
      new ServiceGuard({
        look: lookOf(opened, this.#end.stop, this.#countCall),
        checksConsent: checkConsent,
        snapshot,
        notShown,
      }),
      this.#earlierRows,
      new EarlierProcessGuard(record),
      watch,
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
      const guarded: GuardedRow = { item: row.item, writes: row.writes, recordedId: log.before?.id };
      if (log.isDone) {
        this.#earlierRows.assignFacts(guarded);
        const kept = log.before?.kept;
        return { status: "skipped", ...(kept && { kept }) };
      }
      return await this.#ended(await new SendRow(row, guarded, log, shared).send(), guarded, log);
    } catch (error) {
      // Safe: the class of the code.
      if (hasCode(error, "validation")) return { status: "invalid", error: error as never };
      return { status: "failed", error };
    }
  }

  /** Notes and records how a row was sent. */
  async #ended(sent: SentRow, row: GuardedRow, log: RowLog): Promise<End> {
    const { end, hasSubscribed, id, recorded } = sent;
    if (recorded !== "nothing") {
      this.#earlierRows.assignFacts(row);
      // The one that was looked up may have been another contact than the row now names.
      const isUnknown = idsOf(row, this.#options.snapshot)?.ids.every((each) => each === end?.formerId);
      if (hasSubscribed && isUnknown) this.#warnings.subscribesUnknown();
    }
    // A failure of the record has already ended the run; the row's end stays the same.
    const details = { id, ...(end?.kept && { kept: end.kept }) };
    if (recorded) await log.ends(recorded, details).catch(() => undefined);
    if (end?.formerId !== undefined)
      this.#warnings.sayOnce(
        "a row names another contact than under its key before: `formerId` is the one that is left as it is",
      );
    return end;
  }

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
