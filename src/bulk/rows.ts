import { ConfigurationError } from "../errors.ts";
import { isObject } from "../schema/kind-of.ts";

/** An array or any other iterable of rows. */
export type BulkRows<Row> = Iterable<Row> | AsyncIterable<Row>;

const longestTurnMs = 10;

/** The rows of a run, one at a time. The caller's iterable is not touched before the first row. */
export class RowSource<Row> {
  /** The `length` or `size` of the rows, if they have one. */
  readonly length: number | undefined;
  readonly #rows: BulkRows<Row>;
  #iterator: Iterator<Row> | AsyncIterator<Row> | undefined;
  #isReading = false;
  #isOver = false;
  #isClosed = false;
  #turnBeganAt = performance.now();

  constructor(rows: unknown) {
    if (!isIterable(rows)) throw new ConfigurationError("The rows of bulk must be iterable.");
    const { length, size } = rows as { length?: unknown; size?: unknown };
    // Safe: it has the method of an iterable; the caller types its rows.
    this.#rows = rows as BulkRows<Row>;
    // Safe: a safe integer is a number.
    this.length = [length, size].find((count) => Number.isSafeInteger(count)) as number | undefined;
  }

  /** Rejects with the error of the caller's iterable. */
  async next(): Promise<IteratorResult<Row, unknown>> {
    await this.#yieldToEventLoop();
    /* v8 ignore next -- @preserve the run ended within that turn of the event loop */
    if (this.#isClosed) return { done: true, value: undefined };
    this.#isReading = true;
    try {
      this.#iterator ??= begin(this.#rows);
      const next = await this.#iterator.next();
      this.#isOver = next.done === true;
      return next;
    } catch (error) {
      this.#isOver = true;
      throw error;
    } finally {
      this.#isReading = false;
    }
  }

  /** Calls `return()` of the caller's iterator, as the end of a loop does; does not wait for a pending `next()`. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#isOver) return;
    const closing = (async () => await this.#iterator?.return?.())();
    if (!this.#isReading) await closing;
    // The pending row is no longer needed, so an error of the cleanup is ignored.
    else closing.catch(() => undefined);
  }

  /** Rows that wait for nothing, such as skipped rows of an array, must not block timers, sockets and aborts. */
  async #yieldToEventLoop(): Promise<void> {
    if (performance.now() - this.#turnBeganAt < longestTurnMs) return;
    await new Promise((resolve) => setTimeout(resolve, 0));
    this.#turnBeganAt = performance.now();
  }
}

function isIterable(rows: unknown): boolean {
  return isObject(rows) && (Symbol.asyncIterator in rows || Symbol.iterator in rows);
}

function begin<Row>(rows: BulkRows<Row>): Iterator<Row> | AsyncIterator<Row> {
  return Symbol.asyncIterator in rows ? rows[Symbol.asyncIterator]() : rows[Symbol.iterator]();
}
