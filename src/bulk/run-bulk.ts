import { untilAborted } from "../transport/abort.ts";
import type { FamilyAccess } from "../transport/call.ts";
import type { ClientState } from "../transport/client-state.ts";
import { watchConsents } from "../transport/consent-registry.ts";
import type { Observer } from "../transport/observer.ts";
import { type BulkCall, type BulkSettings, endsRun } from "./bulk-options.ts";
import { judgedError } from "./consent-check.ts";
import { ConsentNotes } from "./consent-notes.ts";
import { Journal } from "./journal.ts";
import { OwnClients } from "./own-clients.ts";
import { ResultQueue } from "./result-queue.ts";
import type { BulkResult, EstimateMs, ProgressCounter, RowEnd } from "./result.ts";
import { RowCalls, type RunOfRows } from "./row-calls.ts";
import { type ReadRow, type RowReader, rowReader, type RowSource } from "./row-source.ts";
import { RunEnd } from "./run-end.ts";
import { checkSnapshot } from "./snapshot-guard.ts";
import type { Target } from "./target.ts";
import { type BegunTask, Workers } from "./workers.ts";

/** The options of a run, with what its client adds. */
export type RunOptions<Row> = BulkSettings<Row> & {
  readonly target: Target;
  readonly observer: Observer;
  /** The v1 family of its client; undefined if it has none. */
  readonly v1: FamilyAccess | undefined;
  /** Undefined without a rate limiter. */
  readonly estimateMs: EstimateMs | undefined;
};

/**
 * Sends the rows of a run, a few at a time: `rowReader` reads a row with its record, `RowCalls` makes its calls and
 * records its end, and the caller gets its result.
 */
export class Run<Row, Value> {
  readonly #source: RowSource<Row>;
  readonly #call: BulkCall<Row, PromiseLike<Value>>;
  readonly #options: RunOptions<Row>;
  readonly #client: ClientState;
  readonly #progress: ProgressCounter;
  readonly #clients: OwnClients;
  readonly #notes: ConsentNotes;
  readonly #results = new ResultQueue<BulkResult<Row, Value>>();
  /** The channels of which it was said that the service does not show them. */
  readonly #notShown = new Set<string>();
  #isEverythingRead = false;
  #hasProgressFailed = false;
  readonly #end: RunEnd;

  constructor(
    source: RowSource<Row>,
    call: BulkCall<Row, PromiseLike<Value>>,
    options: RunOptions<Row>,
    client: ClientState,
    progress: ProgressCounter,
  ) {
    this.#source = source;
    this.#call = call;
    this.#options = options;
    this.#client = client;
    this.#progress = progress;
    this.#clients = new OwnClients(options.target);
    this.#notes = new ConsentNotes(this.#clients, (message) => options.observer.warn(message));
    this.#end = new RunEnd(options.signal, client.closing.signal);
  }

  /**
   * Yields every row's result; rejects at the end with the failure of the run. If the loop is left, requests in flight
   * end.
   */
  async *results(): AsyncGenerator<BulkResult<Row, Value>, void, undefined> {
    this.#progress.startedAt = performance.now();
    const end = this.#end;
    const unwatch = watchConsents(this.#notes);
    let journal: Journal | undefined;
    let sending: Promise<void> | undefined;
    let isWhole = false;
    try {
      journal = await this.#openJournal();
      sending = this.#sendRows(journal);
      yield* this.#results.until(sending);
      isWhole = this.#isEverythingRead;
    } catch (error) {
      end.fail(error);
    } finally {
      end.leave(isWhole);
      this.#results.leave();
      await sending;
      await this.#notes.recorded();
      if (isWhole && !end.hasFailed) await end.failOnError(() => journal?.complete());
      await end.failOnError(() => journal?.close());
      // What is written until then is recorded.
      unwatch();
      await end.failOnError(() => this.#source.close());
      end.settle(this.#progress.done === 0);
    }
  }

  async #openJournal(): Promise<Journal> {
    const { checkpoint, key, snapshot, target } = this.#options;
    const { stop: signal, early: end, fail: onFailure } = this.#end;
    if (snapshot) await checkSnapshot(snapshot, target, signal);
    const isKeyed = key !== undefined;
    const opening =
      checkpoint && !signal.aborted
        ? Journal.open(checkpoint, { isKeyed, target, signal, end, onFailure })
        : Promise.resolve(Journal.inMemory());
    try {
      const journal = await untilAborted(opening, signal);
      await this.#notes.recordIn(journal);
      return journal;
    } catch (error) {
      // It may have been opened, or open after the end of the run.
      opening.then((opened) => opened.close()).catch(() => undefined);
      throw error;
    }
  }

  /** Each row has a worker, from its reading until the caller has finished with its result. */
  async #sendRows(journal: Journal): Promise<void> {
    const reader = rowReader(this.#source, this.#options, journal);
    const shared = this.#sharedBy(journal);
    await new Workers(this.#options.concurrency, () => this.#beginNextRow(reader, shared)).run();
  }

  #sharedBy(journal: Journal): RunOfRows<Row> {
    const { checkConsent, isCurrent, key, observer, snapshot, v1 } = this.#options;
    return {
      journal,
      notes: this.#notes,
      stop: this.#end.stop,
      isCurrent,
      snapshot,
      v1,
      checksConsent: checkConsent && journal.isRecorded && key !== undefined,
      takesRequest: this.#call.length > 1,
      checkTarget: async ({ settings }) => {
        if (!journal.isRecorded) return;
        const checked = this.#clients.refuseOthers(settings.families);
        checked.catch(this.#end.fail);
        await checked;
      },
      fail: this.#end.fail,
      warn: (message) => observer.warn(message),
      notShown: (channels) => {
        const further = channels.filter((each) => !this.#notShown.has(each));
        if (further.length === 0) return;
        for (const channel of further) this.#notShown.add(channel);
        const names = further.join(" and ");
        observer.warn(`the service does not show the consent of ${names}: rows are not checked for it`);
      },
    };
  }

  /** Reads up to the next row that is to be sent, and begins it; the rows before it have ended in an earlier run. */
  async #beginNextRow(reader: RowReader<Row>, shared: RunOfRows<Row>): Promise<BegunTask | undefined> {
    const { fail, stop: signal } = this.#end;
    try {
      for (;;) {
        signal.throwIfAborted();
        const row = await untilAborted(reader.next(), signal);
        this.#isEverythingRead = !row;
        if (!row) return undefined;
        const { earlierEnd } = row.record;
        if (!earlierEnd) return { ended: this.#sendRow(row, reader, shared).catch(fail) };
        await this.#giveResult(row, earlierEnd);
      }
    } catch (error) {
      // The end of the run interrupts the reading.
      if (!signal.aborted) fail(error);
      return undefined;
    }
  }

  /** The life of a row: it is sent, recorded, and its result given to the caller. Starts at once. */
  async #sendRow(row: ReadRow<Row>, reader: RowReader<Row>, shared: RunOfRows<Row>): Promise<void> {
    const { item, key } = row;
    this.#progress.underWay++;
    const calls = new RowCalls(row, shared);
    const ended = calls.run(() => {
      if (key.problem) throw key.problem.error;
      return this.#client.callRow(calls.refuseForgotten, () => this.#call(item, calls.request));
    });
    void reader.began(row, ended);
    const end = await ended;
    this.#progress.underWay--;
    if (!end) return;
    const isFailure = end.status === "failed" || end.status === "invalid" || end.status === "unknown";
    if (isFailure && !calls.wasRefused) this.#stopIfNeeded(judgedError(end.error));
    await this.#giveResult(row, end);
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
  async #giveResult({ index, item, key: { key } }: ReadRow<Row>, end: RowEnd<Value>): Promise<void> {
    const { estimateMs, observer, onProgress, total = this.#source.length } = this.#options;
    this.#progress.add(end.status);
    if (onProgress) {
      const soFar = this.#progress.progress(total, estimateMs);
      // As with hooks, an error or a rejection of `onProgress` changes nothing.
      void (async () => onProgress(soFar))().catch((error: unknown) => {
        // One line for all rows.
        if (!this.#hasProgressFailed) observer.failed("onProgress", error);
        this.#hasProgressFailed = true;
      });
    }
    await this.#results.give({ index, key, item, ...end });
  }
}
