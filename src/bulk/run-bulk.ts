import Bottleneck from "bottleneck/light.js";
import { AbortError, ClientClosedError } from "../errors.ts";
import { onAbort, untilAborted } from "../transport/abort.ts";
import type { ClientState } from "../transport/client-state.ts";
import { type BulkCall, type BulkOptions, endsRun } from "./bulk-options.ts";
import { type RecordedRun, openRecordedRun } from "./checkpoint.ts";
import { ConsentLog } from "./consent-log.ts";
import type { BulkResult, ProgressCounter, RowEnd } from "./result.ts";
import { RowCalls, type RunOfRows } from "./row-calls.ts";
import { type ReadRow, type RowReader, rowReader, type RowSource } from "./row-source.ts";
import type { Target } from "./target.ts";

/**
 * Sends the rows of a run, a few at a time: `rowReader` reads a row with its record, `RowCalls` makes its calls and
 * records its end, and the caller gets its result.
 *
 * Yields every row's result; rejects at the end with the failure of the run. If the loop is left, requests in flight end.
 */
export async function* runBulk<Row, Value>(
  source: RowSource<Row>,
  call: BulkCall<Row, PromiseLike<Value>>,
  options: BulkOptions<Row> & { readonly target: Target },
  client: ClientState,
  progress: ProgressCounter,
): AsyncGenerator<BulkResult<Row, Value>, void, undefined> {
  const consents = new ConsentLog();
  /** Once it is aborted, no further row starts. */
  const stop = new AbortController();
  const runOfRows: RunOfRows<Row> = {
    stop: stop.signal,
    consents,
    isCurrent: options.isCurrent ?? (() => true),
    takesRequest: call.length > 1,
    fail,
  };
  /** The results that the caller has not finished with. */
  const results: { result: BulkResult<Row, Value>; release: () => void }[] = [];
  let onResult: (() => void) | undefined;
  /** The caller has left the loop. */
  let isLeft = false;
  let failure: { error: unknown } | undefined;

  const { signal } = options;
  const message = "The run was aborted.";
  const removeCallbacks = [
    signal &&
      onAbort(signal, () => fail(new AbortError({ message, outcome: "unknown", cause: signal.reason }))),
    onAbort(client.closing.signal, () => fail(new ClientClosedError("unknown"))),
  ];
  const unwatch = client.watchConsent(consents);
  let recorded: RecordedRun | undefined;
  let sending: Promise<boolean> | undefined;
  let isWhole = false;
  try {
    source.start();
    progress.startedAt = performance.now();
    recorded = await openCheckpoint();
    sending = sendRows(recorded);
    yield* resultsUntil(sending);
    isWhole = await sending;
  } catch (error) {
    fail(error);
  } finally {
    for (const removeCallback of removeCallbacks) removeCallback?.();
    stop.abort();
    isLeft = true;
    for (const { release } of results) release();
    await sending;
    // What is written until then is recorded.
    await consents.recorded();
    unwatch();
    await consents.recorded();
    if (isWhole && !failure) await failOnError(() => recorded?.complete());
    await failOnError(() => recorded?.close());
    await failOnError(() => source.close());
    throwFailure();
  }

  async function openCheckpoint(): Promise<RecordedRun | undefined> {
    const { checkpoint, key, target } = options;
    if (!checkpoint || stop.signal.aborted) return undefined;
    const opening = openRecordedRun(checkpoint, { isKeyed: key !== undefined, target, onFailure: fail });
    try {
      const opened = await untilAborted(opening, stop.signal);
      await consents.recordIn(opened);
      return opened;
    } catch (error) {
      // It may open after the end of the run.
      if (stop.signal.aborted) opening.then((late) => late.close()).catch(() => undefined);
      throw error;
    }
  }

  /** Starts each row as soon as it has a slot. Resolves when all have ended: true if the whole source was read. */
  async function sendRows(run: RecordedRun | undefined): Promise<boolean> {
    const reader = rowReader(source, options, run);
    /** A row holds one, a unit of the reservoir (D63), from its reading until the caller has finished with its result. */
    const slots = new Bottleneck({ reservoir: options.concurrency ?? 10 });
    const slot = async () => undefined;
    const underWay = new Set<Promise<void>>();
    let isEverythingRead = false;
    try {
      for (;;) {
        await untilAborted(slots.schedule(slot), stop.signal);
        const row = await nextRow(reader);
        isEverythingRead = !row;
        if (!row) break;
        const ended = sendRow(row, reader).catch(fail);
        underWay.add(ended);
        void ended.then(() => {
          underWay.delete(ended);
          return slots.incrementReservoir(1);
        });
      }
    } catch (error) {
      // The end of the run interrupts the reading.
      if (!stop.signal.aborted) fail(error);
    }
    await Promise.all(underWay);
    return isEverythingRead;
  }

  /** Reads up to the next row that is to be sent; the rows before it have ended in an earlier run. */
  async function nextRow(reader: RowReader<Row>): Promise<ReadRow<Row> | undefined> {
    for (;;) {
      stop.signal.throwIfAborted();
      const row = await untilAborted(reader.next(), stop.signal);
      if (!row) return undefined;
      progress.underWay++;
      const { earlierEnd } = row.record;
      if (!earlierEnd) return row;
      await giveResult(row, earlierEnd);
    }
  }

  /** The life of a row in its slot: it is sent, recorded, and its result given to the caller. Starts at once. */
  async function sendRow(row: ReadRow<Row>, reader: RowReader<Row>): Promise<void> {
    const { item, key } = row;
    const calls = new RowCalls(row, runOfRows);
    const ended = calls.run(() => {
      if (key.problem) throw key.problem.error;
      return client.withAmbientOptions(calls.request, () => call(item, calls.request));
    });
    void reader.began(row, ended);
    const end = await ended;
    if (!end) return void progress.underWay--;
    if (end.status !== "superseded" && "error" in end && !calls.wasRefused) stopIfNeeded(end.error);
    await giveResult(row, end);
  }

  /** Ends the run if every other row would meet the error too. */
  function stopIfNeeded(error: unknown): void {
    if (stop.signal.aborted) return;
    try {
      if (endsRun(error, options.stopWhen)) fail(error);
    } catch (thrown) {
      fail(thrown);
    }
  }

  /** Resolves when the caller has finished with the result. */
  async function giveResult({ index, item, key: { key } }: ReadRow<Row>, end: RowEnd<Value>): Promise<void> {
    const { onProgress, total = source.length } = options;
    progress.underWay--;
    progress.add(end.status);
    if (onProgress) {
      const soFar = progress.progress(total, client.limiter);
      // As with hooks, an error or a rejection of `onProgress` changes nothing.
      void (async () => onProgress(soFar))().catch(() => undefined);
    }
    if (isLeft) return;
    await new Promise<void>((release) => {
      results.push({ result: { index, key, item, ...end }, release });
      onResult?.();
    });
  }

  async function* resultsUntil(
    over: Promise<unknown>,
  ): AsyncGenerator<BulkResult<Row, Value>, void, undefined> {
    let isOver = false;
    void over.then(() => {
      isOver = true;
      onResult?.();
    });
    for (;;) {
      const [next] = results;
      if (next) {
        yield next.result;
        results.shift();
        next.release();
      } else if (isOver) return;
      else await new Promise<void>((resolve) => (onResult = resolve));
    }
  }

  /** The run ends with its first failure. */
  function fail(error: unknown): void {
    failure ??= { error };
    stop.abort(error);
  }

  async function failOnError(work: () => unknown): Promise<void> {
    try {
      await work();
    } catch (error) {
      fail(error);
    }
  }

  function throwFailure(): void {
    if (!failure) return;
    const { error } = failure;
    // Every row that was sent has an end.
    const isInterruption = error instanceof AbortError || error instanceof ClientClosedError;
    if (isInterruption && !progress.done) Object.assign(error, { outcome: "not-sent" });
    throw error;
  }
}
