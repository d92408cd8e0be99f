import { AbortError, ConfigurationError } from "../errors.ts";
import { onAbort } from "../on-abort.ts";
import type { OpenCheckpoint } from "./checkpoint.ts";
import { RowKeys } from "./row-keys.ts";
import { readRows, type BulkOptions } from "./options.ts";
import type { BulkProgress, BulkResult, BulkSummary } from "./result.ts";
import { callRow, type BulkCall } from "./row-call.ts";
import { stopsByDefault } from "./stop-when.ts";
import { Tally } from "./tally.ts";

/** What a run needs of its client. */
export interface BulkClient {
  readonly isClosed: () => boolean;
  /** How long so many more calls take; undefined where no limit is kept. */
  readonly estimateMs: (calls: number) => number | undefined;
  readonly now: () => number;
}

const defaultConcurrency = 10;

/**
 * Many rows, a few at a time. Rows are read when there is room for one: a row takes up room until its end is on record
 * and its result has been taken, so a slow consumer holds the reading back.
 */
export class RowPump<Row, Value> {
  readonly #call: BulkCall<Row, Value>;
  readonly #options: BulkOptions<Row>;
  readonly #client: BulkClient;
  readonly #tally: Tally;
  readonly #stop = new AbortController();
  readonly #ended: BulkResult<Row, Value>[] = [];
  readonly #concurrency: number;
  readonly #source: AsyncIterator<Row> | Iterator<Row>;
  readonly #total: number | undefined;
  #checkpoint: OpenCheckpoint | undefined;
  #inFlight = 0;
  #isReadOut = false;
  #failure: { error: unknown } | undefined;
  #onChange: () => void = () => {};
  #onRoom: () => void = () => {};

  constructor(rows: unknown, call: BulkCall<Row, Value>, options: BulkOptions<Row>, client: BulkClient) {
    const { source, length } = readRows<Row>(rows);
    this.#source = source;
    this.#total = options.total ?? length;
    this.#call = call;
    this.#options = options;
    this.#client = client;
    this.#concurrency = options.concurrency ?? defaultConcurrency;
    this.#tally = new Tally(client.now);
  }

  /** Every row's result; rejects in the end with what stopped the run. Left early, it lets what is in flight end. */
  async *results(): AsyncGenerator<BulkResult<Row, Value>, BulkSummary, undefined> {
    const { signal, checkpoint } = this.#options;
    const forget = signal && onAbort(signal, () => this.#fail(abortError(signal)));
    try {
      this.#checkpoint = await checkpoint?.open();
      void this.#read();
      for (let next = await this.#next(); next; next = await this.#next()) yield next;
    } finally {
      forget?.();
      await this.#wind();
    }
    if (this.#failure) throw this.#failure.error;
    return this.summary();
  }

  summary(): BulkSummary {
    return this.#tally.summary();
  }

  /** The next result; undefined once there will be none. */
  async #next(): Promise<BulkResult<Row, Value> | undefined> {
    for (;;) {
      const result = this.#ended.shift();
      if (result) {
        this.#onRoom();
        return result;
      }
      if (this.#inFlight === 0 && (this.#isReadOut || this.#stop.signal.aborted)) return undefined;
      await this.#change();
    }
  }

  /** Nothing new is begun; resolves when what is in flight has ended and the checkpoint is closed. */
  async #wind(): Promise<void> {
    this.#stop.abort();
    this.#onRoom();
    while (this.#inFlight > 0) await this.#change();
    // Not waited for: a source that hangs in next() would never get there.
    if (!this.#isReadOut) void Promise.resolve(this.#source.return?.()).catch(() => undefined);
    await this.#checkpoint?.close();
  }

  async #read(): Promise<void> {
    const keys = new RowKeys(this.#options, this.#checkpoint !== undefined);
    try {
      for (let index = 0; ; index++) {
        while (this.#inFlight + this.#ended.length >= this.#concurrency && !this.#stop.signal.aborted) await this.#room();
        if (this.#stop.signal.aborted) return;
        const next = await this.#source.next();
        if (this.#stop.signal.aborted) return;
        if (next.done) break;
        this.#inFlight++;
        void this.#carryOut(next.value, index, await keys.next(next.value, index));
      }
    } catch (error) {
      this.#fail(error);
    }
    this.#isReadOut = true;
    this.#onChange();
  }

  async #carryOut(item: Row, index: number, named: { key: string; error?: unknown }): Promise<void> {
    const { key } = named;
    const end =
      "error" in named
        ? { status: "failed" as const, error: named.error }
        : await callRow({
            row: item,
            key,
            call: this.#call,
            stop: this.#stop.signal,
            checkpoint: this.#checkpoint,
            onRecordFailure: (error) => this.#fail(error),
          });
    this.#tally.add(end.status);
    this.#inFlight--;
    this.#ended.push({ index, key, item, ...end });
    if ("error" in end) this.#judge(end.error);
    this.#reportProgress();
    this.#onChange();
  }

  /** Whether the error is one that every other row would meet too. */
  #judge(error: unknown): void {
    if (this.#stop.signal.aborted) return;
    try {
      const stops = this.#options.stopWhen ?? stopsByDefault;
      if (stops(error) || this.#client.isClosed()) this.#fail(error);
    } catch (thrown) {
      this.#fail(thrown);
    }
  }

  /** The first failure of the run is the one it ends with. */
  #fail(error: unknown): void {
    this.#failure ??= { error };
    this.#stop.abort(error);
    this.#onRoom();
    this.#onChange();
  }

  #reportProgress(): void {
    const { onProgress } = this.#options;
    if (!onProgress) return;
    const progress: BulkProgress = this.#tally.progress(this.#total, this.#client.estimateMs);
    try {
      onProgress(progress);
    } catch {
      // As with hooks: what looks on changes nothing.
    }
  }

  #change(): Promise<void> {
    return new Promise((resolve) => (this.#onChange = resolve));
  }

  #room(): Promise<void> {
    return new Promise((resolve) => (this.#onRoom = resolve));
  }
}

function abortError(signal: AbortSignal): AbortError {
  return new AbortError({ message: "The run was aborted.", outcome: "unknown", cause: signal.reason });
}

/** A run of `audience.bulk`: iterate it for every row's result, or await `summary()`, or both. */
export class BulkRun<Row, Value> implements AsyncIterable<BulkResult<Row, Value>> {
  readonly #pump: RowPump<Row, Value>;
  readonly #summary: Promise<BulkSummary>;
  #resolve: (summary: BulkSummary) => void = () => {};
  #reject: (error: unknown) => void = () => {};
  #isTaken = false;

  /** @internal */
  constructor(pump: RowPump<Row, Value>) {
    this.#pump = pump;
    this.#summary = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // Who only iterates hears of a failure in the loop.
    this.#summary.catch(() => undefined);
  }

  /** Starts the run. Once: a run's rows are read one time. */
  async *[Symbol.asyncIterator](): AsyncGenerator<BulkResult<Row, Value>, void, undefined> {
    if (this.#isTaken) throw new ConfigurationError("A bulk run is iterated once, and not after summary() has begun to.");
    this.#isTaken = true;
    try {
      yield* this.#pump.results();
    } catch (error) {
      this.#reject(error);
      throw error;
    } finally {
      this.#resolve(this.#pump.summary());
    }
  }

  /** How many rows ended how. Carries the run out itself where nobody iterates it; rejects with what stopped it. */
  async summary(): Promise<BulkSummary> {
    // A loop that begins in the same turn comes first.
    await Promise.resolve();
    if (!this.#isTaken) {
      try {
        for await (const _ of this) continue;
      } catch {
        // The summary rejects with it.
      }
    }
    return await this.#summary;
  }
}
