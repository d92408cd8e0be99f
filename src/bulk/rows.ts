import { ConfigurationError } from "../errors.ts";
import { isObject } from "../schema/kind-of.ts";
import { EventLoopYield } from "./event-loop-yield.ts";

/** Rows of any number, in an array or any other iterable. */
export type BulkRows<Row> = Iterable<Row> | AsyncIterable<Row>;

/** The rows of a run, one at a time. Nothing is asked of the caller's iterable before the first is. */
export class RowSource<Row> {
  /** Where the rows tell how many they are, as an array does. */
  readonly length: number | undefined;
  readonly #rows: BulkRows<Row>;
  #iterator: Iterator<Row> | AsyncIterator<Row> | undefined;
  #isOver = false;
  #isReading = false;
  readonly #eventLoopYield = new EventLoopYield();

  constructor(rows: unknown) {
    if (!isIterable(rows)) throw new ConfigurationError("The rows of bulk must be iterable.");
    const { length, size } = rows as { length?: unknown; size?: unknown };
    // It has the method of an iterable; what that gives is the caller's to type.
    this.#rows = rows as BulkRows<Row>;
    // True: a safe integer is a number.
    this.length = [length, size].find((count) => Number.isSafeInteger(count)) as number | undefined;
  }

  /** Rejects with what the caller's iterable throws. */
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

  /** Lets the caller's iterable clean up, as the end of a loop does; one that hangs in `next()` is not waited for. */
  async close(): Promise<void> {
    const iterator = this.#iterator;
    if (this.#isOver || iterator === undefined) return;
    const cleaning = (async () => await iterator.return?.())();
    if (!this.#isReading) await cleaning;
    // The row that it hangs on belongs to nobody any more, and so does an error in cleaning up behind it.
    else cleaning.catch(() => undefined);
  }
}

function isIterable(rows: unknown): boolean {
  return isObject(rows) && (Symbol.asyncIterator in rows || Symbol.iterator in rows);
}

function begin<Row>(rows: BulkRows<Row>): Iterator<Row> | AsyncIterator<Row> {
  return Symbol.asyncIterator in rows ? rows[Symbol.asyncIterator]() : rows[Symbol.iterator]();
}
