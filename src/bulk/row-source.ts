import { ConfigurationError } from "../errors.ts";
import { awaitIt, kindOf } from "../schema/kind-of.ts";
import { ignoreRejection } from "../schema/parse-options.ts";
import { isObject } from "../schema/predicates.ts";

/** An array or any other iterable of rows, or of promises of rows. A string is none. */
export type BulkIterable<Row> = (Iterable<Row | PromiseLike<Row>> | AsyncIterable<Row>) & object;

/** Rows, or a function that gives them anew each time: with it, or a `length` or `size`, rows with a refusal go first. */
export type BulkRows<Row> = BulkIterable<Row> | (() => BulkIterable<Row>);

const longestTurnMs = 10;

/** Rows of the caller, one at a time. The caller's iterable is not touched before the run begins. */
export class RowSource<Row> {
  /** The `length` or `size` of the rows, if they have one. */
  readonly length: number | undefined;
  readonly #rows: BulkIterable<Row>;
  #iterator: Iterator<Row | PromiseLike<Row>> | AsyncIterator<Row> | undefined;
  /** The first row, until it is taken. */
  #first: Promise<IteratorResult<Row, unknown>> | undefined;
  #isReading = false;
  #isOver = false;
  #turnBeganAt = performance.now();

  constructor(rows: unknown) {
    if (!isObject(rows) || !(Symbol.asyncIterator in rows || Symbol.iterator in rows))
      throw new ConfigurationError(
        `The rows of bulk must be an array or another iterable, not ${kindOf(rows)}${awaitIt(rows)}.`,
      );
    const { length, size } = rows as { length?: unknown; size?: unknown };
    // Safe: it has the method of an iterable; the caller types its rows.
    this.#rows = rows as BulkIterable<Row>;
    // Safe: a safe integer is a number.
    this.length = [length, size].find((count) => Number.isSafeInteger(count)) as number | undefined;
  }

  /** Asks for the iterator and its first row, in the turn in which a run begins (D101). Once: later it does nothing. */
  start(): void {
    if (this.#iterator || this.#isOver) return;
    // Promises that are there already may reject long before their rows are read: Node would end the process.
    if (Array.isArray(this.#rows) || this.#rows instanceof Set) {
      for (const row of this.#rows as Iterable<unknown>) ignoreRejection(row);
    }
    this.#first = this.#read();
    // `next` rejects with it, unless the run ends before.
    this.#first.catch(() => undefined);
  }

  /** Rejects with the error of the caller's iterable. */
  async next(): Promise<IteratorResult<Row, unknown>> {
    this.start();
    const first = this.#first;
    this.#first = undefined;
    const next = await (first ?? this.#read());
    // Rows that wait for nothing, such as skipped rows of an array, must not block timers, sockets and aborts.
    if (performance.now() - this.#turnBeganAt >= longestTurnMs) {
      await new Promise((resolve) => setTimeout(resolve, 0));
      this.#turnBeganAt = performance.now();
    }
    return next;
  }

  async #read(): Promise<IteratorResult<Row, unknown>> {
    this.#isReading = true;
    try {
      const { done, value } = await this.#advance();
      // As `for await` does: an iterable may hold promises of rows; those of an async iterable are the rows.
      const row = Symbol.asyncIterator in this.#rows ? value : await value;
      // Safe: a value that was not awaited is a row.
      return { done, value: row } as IteratorResult<Row, unknown>;
    } finally {
      this.#isReading = false;
    }
  }

  async #advance(): Promise<IteratorResult<unknown, unknown>> {
    const rows = this.#rows;
    try {
      this.#iterator ??=
        Symbol.asyncIterator in rows ? rows[Symbol.asyncIterator]() : rows[Symbol.iterator]();
      const next = await this.#iterator.next();
      this.#isOver = next.done === true;
      return next;
    } catch (error) {
      this.#isOver = true;
      throw error;
    }
  }

  /** Calls `return()` of the caller's iterator, as the end of a loop does; does not wait for a pending `next()`. */
  async close(): Promise<void> {
    if (this.#isOver) return;
    const closing = (async () => await this.#iterator?.return?.())();
    if (!this.#isReading) await closing;
    // The pending row is no longer needed, so an error of the cleanup is ignored.
    else closing.catch(() => undefined);
  }
}
