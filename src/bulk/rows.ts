import { ConfigurationError } from "../errors.ts";
import { isObject } from "../schema/kind-of.ts";
import { EventLoopYield } from "./event-loop-yield.ts";

/** An array or any other iterable of rows. */
export type BulkRows<Row> = Iterable<Row> | AsyncIterable<Row>;

/** The rows of a run, one at a time. The caller's iterable is not touched before the first row. */
export class RowSource<Row> {
  /** The `length` or `size` of the rows, if they have one. */
  readonly length: number | undefined;
  readonly #rows: BulkRows<Row>;
  #iterator: Iterator<Row> | AsyncIterator<Row> | undefined;
  #isOver = false;
  #isReading = false;
  readonly #eventLoopYield = new EventLoopYield();

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
    this.#isReading = true;
    try {
      const pause = this.#eventLoopYield.afterRow();
      if (pause) await pause;
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
    const iterator = this.#iterator;
    if (this.#isOver || iterator === undefined) return;
    const cleaning = (async () => await iterator.return?.())();
    if (!this.#isReading) await cleaning;
    // The pending row is no longer needed, so an error of the cleanup is ignored.
    else cleaning.catch(() => undefined);
  }
}

function isIterable(rows: unknown): boolean {
  return isObject(rows) && (Symbol.asyncIterator in rows || Symbol.iterator in rows);
}

function begin<Row>(rows: BulkRows<Row>): Iterator<Row> | AsyncIterator<Row> {
  return Symbol.asyncIterator in rows ? rows[Symbol.asyncIterator]() : rows[Symbol.iterator]();
}
