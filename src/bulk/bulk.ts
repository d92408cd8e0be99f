import { ConfigurationError } from "../errors.ts";
import type { ClientSettings } from "../open-client.ts";
import { optionTypes, parseOption } from "../schema/parse-options.ts";
import type { ClientState } from "../transport/client-state.ts";
import { v1Access } from "../v1/v1-client.ts";
import { type BulkCall, type BulkOptions, parseBulkOptions, rowPriority } from "./bulk-options.ts";
import {
  type BulkCheck,
  type BulkCheckOptions,
  type CheckRow,
  parseCheckOptions,
  type PlannedBulkCheck,
  RowChecker,
} from "./check.ts";
import { type BulkResult, type BulkSummary, ProgressCounter } from "./result.ts";
import { type BulkRows, RowSource } from "./row-source.ts";
import { Run } from "./run-bulk.ts";
import { targetOf } from "./target.ts";

/** Sends many rows, a few at a time, over days and through crashes. */
export interface Bulk {
  /**
   * Makes a call for each row, and yields a result for each. The run starts when it is iterated or awaited.
   *
   * One bad row never ends a run; an error that every other row would meet does (`stopWhen`). The function must return
   * its call's promise, and pass `request` on to the call.
   *
   * ```ts
   * const run = audience.bulk(rows, (row, request) => audience.v1.contactGroups.addContact(listId, row, request));
   * for await (const { index, status, error } of run) if (status !== "succeeded") console.log(index, status, error);
   * console.log(await run);
   * ```
   *
   * @throws ConfigurationError if an option is wrong.
   */
  <Row, Result extends PromiseLike<unknown>>(
    rows: BulkRows<Row>,
    call: BulkCall<Row, Result>,
    options?: BulkOptions<Row>,
  ): BulkRun<Row, Awaited<Result>>;
  /**
   * Checks each row with a schema. Sends nothing.
   *
   * ```ts
   * const { valid, invalid, estimateMs } = await audience.bulk.check(rows, (row) => v1ContactSchema.safeParse(row));
   * ```
   */
  check<Row>(rows: BulkRows<Row>, check: CheckRow<Row>): Promise<BulkCheck>;
  /**
   * Tells also what a run with these options would do, before it does it. It reads the checkpoint, and leaves it as it is.
   *
   * ```ts
   * const tonight = await audience.bulk.check(rows, check, { key: (row) => row.email, checkpoint });
   * console.log(`${tonight.new} new, ${tonight.changed} changed, ${tonight.unchanged} unchanged`);
   * ```
   *
   * @throws ConfigurationError if an option is wrong, or the checkpoint is in use, damaged, or of another organization.
   */
  check<Row>(
    rows: BulkRows<Row>,
    check: CheckRow<Row>,
    options: BulkCheckOptions<Row>,
  ): Promise<PlannedBulkCheck>;
}

export function createBulk(client: ClientState, settings: ClientSettings): Bulk {
  const estimateMs = client.limiter
    ? (calls: number) => client.limiter!.estimateMs(calls, { priority: rowPriority }) // a client keeps having one
    : undefined;
  const bulk = <Row, Result extends PromiseLike<unknown>>(
    rows: BulkRows<Row>,
    call: BulkCall<Row, Result>,
    options?: BulkOptions<Row>,
  ) => {
    parseOption(optionTypes.function, call, "The call of bulk");
    // Safe: awaiting a Result gives its resolved value.
    const awaited = call as BulkCall<Row, PromiseLike<Awaited<Result>>>;
    const source = new RowSource<Row>(rows);
    const parsed = parseBulkOptions<Row>(options);
    const target = targetOf(parsed.organization, settings, client.redactor);
    const v1 = settings.families.some(({ name }) => name === "v1") ? v1Access(settings) : undefined;
    const start = () => {
      // A run that has ended before it begins reads no row.
      if (!client.closing.signal.aborted && !parsed.signal?.aborted) source.start();
    };
    return new BulkRun(start, (progress) =>
      new Run(
        source,
        awaited,
        { ...parsed, target, estimateMs, observer: settings.observer, v1 },
        client,
        progress,
      ).results(),
    );
  };
  const check = async <Row>(
    rows: BulkRows<Row>,
    checkRow: CheckRow<Row>,
    options?: BulkCheckOptions<Row>,
  ): Promise<PlannedBulkCheck> => {
    const checker = new RowChecker(checkRow, estimateMs);
    // Safe: without options nobody is promised the counts of a plan.
    if (options === undefined) return (await checker.check(new RowSource<Row>(rows))) as PlannedBulkCheck;
    const parsed = parseCheckOptions<Row>(options);
    const target = targetOf(parsed.organization, settings, client.redactor);
    return await checker.plan(new RowSource<Row>(rows), { ...parsed, target });
  };
  return Object.assign(bulk, { check });
}

/**
 * A run of `audience.bulk`: iterate it for every row's result, await it for its summary, or iterate it and then await it.
 *
 * Do not await it inside its loop: the summary is ready when the loop has ended.
 */
export class BulkRun<Row, Value> implements AsyncIterable<BulkResult<Row, Value>>, PromiseLike<BulkSummary> {
  /** Asks for the first row, once. */
  readonly #start: () => void;
  readonly #run: (progress: ProgressCounter) => AsyncGenerator<BulkResult<Row, Value>, void, undefined>;
  readonly #progress = new ProgressCounter();
  readonly #summary: Promise<BulkSummary>;
  // Set by the promise's executor, which runs at once.
  #resolve!: (summary: BulkSummary) => void;
  #reject!: (error: unknown) => void;
  #isIterated = false;

  /** @internal */
  constructor(
    start: () => void,
    run: (progress: ProgressCounter) => AsyncGenerator<BulkResult<Row, Value>, void, undefined>,
  ) {
    this.#start = start;
    this.#run = run;
    this.#summary = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // A caller who only iterates gets the failure from the loop.
    this.#summary.catch(() => undefined);
  }

  /** Starts the run. A run is iterated once. */
  async *[Symbol.asyncIterator](): AsyncGenerator<BulkResult<Row, Value>, void, undefined> {
    if (this.#isIterated) throw new ConfigurationError("A bulk run is iterated once.");
    this.#isIterated = true;
    this.#start();
    try {
      yield* this.#run(this.#progress);
    } catch (error) {
      this.#reject(error);
      throw error;
    } finally {
      // Also after a loop that was left early: the summary counts the rows that have ended.
      this.#resolve(this.#progress.summary());
    }
  }

  /** The summary. Starts the run if it is not iterated; rejects with the failure of the run. */
  async summary(): Promise<BulkSummary> {
    this.#start();
    // A loop that begins in the same tick comes first.
    await Promise.resolve();
    // Its failure is the summary's.
    if (!this.#isIterated) this.#drain().catch(() => undefined);
    return await this.#summary;
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

  async #drain(): Promise<void> {
    for await (const _ of this) continue;
  }
}
