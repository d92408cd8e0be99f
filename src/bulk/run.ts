import { ConfigurationError } from "../errors.ts";
import type { BulkResult, BulkSummary } from "./result.ts";
import type { RowRunner } from "./row-runner.ts";

/**
 * A run of `audience.bulk`: iterate it for every row's result, await it for its summary, or both, in either order.
 *
 * Do not await it inside its loop: the summary is ready when the loop has ended.
 */
export class BulkRun<Row, Value> implements AsyncIterable<BulkResult<Row, Value>>, PromiseLike<BulkSummary> {
  readonly #runner: RowRunner<Row, Value>;
  readonly #summary: Promise<BulkSummary>;
  // Set by the promise's executor, which runs at once.
  #resolve!: (summary: BulkSummary) => void;
  #reject!: (error: unknown) => void;
  #isIterated = false;

  /** @internal */
  constructor(runner: RowRunner<Row, Value>) {
    this.#runner = runner;
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
    try {
      yield* this.#runner.results();
    } catch (error) {
      this.#reject(error);
      throw error;
    } finally {
      // Also after a loop that was left early: the summary counts the rows that have ended.
      this.#resolve(this.#runner.summary());
    }
  }

  /** The summary. Starts the run if it is not iterated; rejects with the failure of the run. */
  async summary(): Promise<BulkSummary> {
    // A loop that begins in the same tick comes first.
    await Promise.resolve();
    if (!this.#isIterated) void this.#drain();
    return await this.#summary;
  }

  /** `await run` is `await run.summary()`. */
  // oxlint-disable-next-line unicorn/no-thenable -- a run that is neither awaited nor iterated sends nothing.
  then<Result = BulkSummary, Failure = never>(
    onFulfilled?: ((summary: BulkSummary) => Result | PromiseLike<Result>) | null,
    onRejected?: ((reason: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Result | Failure> {
    return this.summary().then(onFulfilled, onRejected);
  }

  async #drain(): Promise<void> {
    try {
      for await (const _ of this) continue;
    } catch {
      // The summary rejects with it.
    }
  }
}
