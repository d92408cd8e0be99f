import * as z from "zod";
import { ConfigurationError, ValidationError, type ValidationIssue } from "../errors.ts";
import type { ClientSettings } from "../open-client.ts";
import { errorMessage, ignoreRejection, optionTypes, parseOption } from "../schema/parse-options.ts";
import { toIssues } from "../schema/validation-issues.ts";
import type { ClientState } from "../transport/client-state.ts";
import { type BulkCall, type BulkOptions, parseBulkOptions, rowPriority } from "./bulk-options.ts";
import { type BulkResult, type BulkSummary, type EstimateMs, ProgressCounter } from "./result.ts";
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
  check<Row>(rows: BulkRows<Row>, check: (row: Row, index: number) => CheckResult): Promise<BulkCheck>;
}

/** The result of `bulk.check`. */
export interface BulkCheck {
  /** The number of rows. */
  readonly total: number;
  /** The number of valid rows. */
  readonly valid: number;
  /** The invalid rows: the index in the source, from 0, and all problems. */
  readonly invalid: { readonly index: number; readonly issues: readonly ValidationIssue[] }[];
  /** The time to send the valid rows, in milliseconds, at one call a row, as the rate limiter estimates it. */
  readonly estimateMs: number;
}

/** The result of a schema's `safeParse`. */
export type CheckResult = { readonly success: true } | { readonly success: false; readonly error: unknown };

export function createBulk(client: ClientState, settings: ClientSettings): Bulk {
  const { limiter } = client;
  const { reserve } = settings;
  const estimateMs =
    limiter && ((calls: number) => limiter.estimateMs(calls, { priority: rowPriority, reserve }));
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
    const start = () => {
      // A run that has ended before it begins reads no row.
      if (!client.closing.signal.aborted && !parsed.signal?.aborted) source.start();
    };
    return new BulkRun(start, (progress) =>
      new Run(source, awaited, { ...parsed, target, estimateMs }, client, progress).results(),
    );
  };
  const check: Bulk["check"] = (rows, checkRow) => checkRows(rows, checkRow, estimateMs);
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

const checkResultSchema = z.discriminatedUnion("success", [
  z.object({ success: z.literal(true) }),
  z.object({
    success: z.literal(false),
    error: z.object({ issues: z.array(z.object({ path: z.array(z.unknown()) })) }),
  }),
]);

async function checkRows<Row>(
  rows: unknown,
  check: (row: Row, index: number) => CheckResult,
  estimateMs: EstimateMs | undefined,
): Promise<BulkCheck> {
  parseOption(optionTypes.function, check, "The check of bulk.check");
  const source = new RowSource<Row>(rows);
  const invalid: BulkCheck["invalid"] = [];
  let total = 0;
  try {
    for (let next = await source.next(); !next.done; next = await source.next()) {
      const row = next.value;
      const index = total++;
      const issues = issuesOf(() => check(row, index));
      if (issues) invalid.push({ index, issues });
    }
  } catch (error) {
    // An error of the cleanup would hide this one.
    await source.close().catch(() => undefined);
    throw error;
  }
  const valid = total - invalid.length;
  return { total, valid, invalid, estimateMs: estimateMs?.(valid) ?? 0 };
}

function issuesOf(check: () => unknown): readonly ValidationIssue[] | undefined {
  let result: unknown;
  try {
    result = check();
  } catch (error) {
    if (error instanceof ValidationError) return error.issues;
    return [{ path: [], code: "unreadable", message: `the row cannot be checked: ${errorMessage(error)}` }];
  }
  ignoreRejection(result);
  const { data } = checkResultSchema.safeParse(result);
  if (!data)
    throw new ConfigurationError(
      "The check of bulk.check must return { success, error: { issues } }, as safeParse does.",
    );
  // Safe: the schema has checked what is read of it.
  return data.success ? undefined : toIssues((result as { error: Parameters<typeof toIssues>[0] }).error);
}
