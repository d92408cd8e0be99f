import { ConfigurationError } from "../errors.ts";
import type { BulkResult, BulkSummary } from "./result.ts";
import type { RowPump } from "./row-pump.ts";

/**
 * A run of `audience.bulk`: iterate it for every row's result, or await it for its summary, or both, in either order.
 *
 * Inside the loop do not await it: its summary is there when the loop is over.
 */
export class BulkRun<Row, Value> implements AsyncIterable<BulkResult<Row, Value>>, PromiseLike<BulkSummary> {
  readonly #pump: RowPump<Row, Value>;
  readonly #summary: Promise<BulkSummary>;
  // Given by the constructor of the promise, which runs at once.
  #resolve!: (summary: BulkSummary) => void;
  #reject!: (error: unknown) => void;
  #isIterated = false;

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
    if (this.#isIterated) throw new ConfigurationError("A bulk run is iterated once.");
    this.#isIterated = true;
    try {
      yield* this.#pump.results();
    } catch (error) {
      this.#reject(error);
      throw error;
    } finally {
      // Of a loop that was left early too: it tells what had ended by then.
      this.#resolve(this.#pump.summary());
    }
  }

  /** How many rows ended how. Carries the run out itself where nobody iterates it; rejects with what stopped it. */
  async summary(): Promise<BulkSummary> {
    // A loop that begins in the same turn comes first.
    await Promise.resolve();
    if (!this.#isIterated) void this.#drain();
    return await this.#summary;
  }

  /** `await run` is `await run.summary()`. */
  // oxlint-disable-next-line unicorn/no-thenable -- a run that nobody awaits or iterates sends nothing.
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
