import { ConfigurationError, ValidationError } from "../errors.ts";
import { hasMethods, isObject, kindOf } from "../schema/kind-of.ts";
import { errorMessage, ignoreRejection } from "../schema/parse-options.ts";
import type { BulkOptions } from "./bulk-options.ts";
import type { RecordedRun } from "./checkpoint.ts";
import { type RowKey, RowRecord, fingerprintOf } from "./row-record.ts";

/** An array or any other iterable of rows. A string is none. */
export type BulkRows<Row> = (Iterable<Row> | AsyncIterable<Row>) & object;

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
    if (!isObject(rows) || !(Symbol.asyncIterator in rows || Symbol.iterator in rows))
      throw new ConfigurationError(
        `The rows of bulk must be an array or another iterable, not ${kindOf(rows)}${wayOutOf(rows)}.`,
      );
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
    const rows = this.#rows;
    this.#isReading = true;
    try {
      this.#iterator ??=
        Symbol.asyncIterator in rows ? rows[Symbol.asyncIterator]() : rows[Symbol.iterator]();
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

function wayOutOf(rows: unknown): string {
  if (typeof rows === "function") return ": call it, as in rows()";
  return hasMethods(rows, "then") ? ": await it" : "";
}

/** A row that was read. */
export interface ReadRow<Row> {
  readonly index: number;
  readonly item: Row;
  readonly key: RowKey;
  readonly record: RowRecord;
}

/** Reads the rows of a run one after the other, with their keys and records. */
export class RowReader<Row> {
  readonly #source: RowSource<Row>;
  readonly #options: BulkOptions<Row>;
  readonly #run: RecordedRun | undefined;
  /** With a checkpoint: the last number that each key so far has been given. */
  readonly #lastNumbers = new Map<string, number>();
  /** The ends of the rows under way, by the key of a further row with the same key. */
  readonly #ends = new Map<string, Promise<unknown>>();
  #count = 0;

  constructor(source: RowSource<Row>, options: BulkOptions<Row>, run: RecordedRun | undefined) {
    this.#source = source;
    this.#options = options;
    this.#run = run;
  }

  /** Undefined after the last row. Rejects if the source or the checkpoint cannot be read. */
  async next(): Promise<ReadRow<Row> | undefined> {
    const next = await this.#source.next();
    if (next.done) return undefined;
    const index = this.#count++;
    const item = next.value;
    const key = await this.#keyOf(item, index).catch((error: unknown): RowKey => ({
      key: String(index),
      nextKey: "",
      fingerprint: "",
      problem: { error },
    }));
    // The end of the row before with the same key decides whether this one is sent again.
    await this.#ends.get(key.key);
    return { index, item, key, record: await RowRecord.read(key.problem ? undefined : this.#run, key) };
  }

  /** The next row with the same key waits for the end of this one. */
  async began({ key: { nextKey } }: ReadRow<Row>, end: Promise<unknown>): Promise<void> {
    this.#ends.set(nextKey, end);
    await end;
    this.#ends.delete(nextKey);
  }

  /** Without a checkpoint only the key counts. */
  async #keyOf(row: Row, index: number): Promise<RowKey> {
    const { key } = this.#options;
    const given = key && checkKey(key(row, index));
    if (!this.#run) return { key: given ?? String(index), nextKey: "", fingerprint: "" };
    const fingerprint = await this.#fingerprint(row);
    return { ...this.#numbered(given ?? fingerprint), fingerprint };
  }

  async #fingerprint(row: Row): Promise<string> {
    const { fingerprint } = this.#options;
    const given: unknown = fingerprint ? fingerprint(row) : row;
    ignoreRejection(given);
    try {
      return await fingerprintOf(given);
    } catch (error) {
      const subject = fingerprint ? "the result of `fingerprint`" : "the row";
      const wayOut = fingerprint ? "return a string or a JSON value" : "give a `fingerprint`";
      throw rowError(`${subject} cannot be written as JSON (${errorMessage(error)}): ${wayOut}`);
    }
  }

  /** The second row with a key gets the suffix `#2`, or the next number that no other row has as its key. */
  #numbered(given: string): { key: string; nextKey: string } {
    // A copy: a part of a string, as a cell of a line, keeps the whole string in memory.
    const key = JSON.parse(JSON.stringify(given)) as string;
    let number = this.#lastNumbers.get(key) ?? 1;
    let numbered = key;
    while (this.#lastNumbers.has(numbered)) numbered = `${key}#${++number}`;
    this.#lastNumbers.set(numbered, 1).set(key, number);
    return { key: numbered, nextKey: `${key}#${number + 1}` };
  }
}

function checkKey(key: unknown): string {
  ignoreRejection(key);
  if (typeof key === "string" && key !== "" && !loneSurrogate.test(key)) return key;
  const kind = key === "" ? "an empty string" : typeof key === "string" ? "half a character" : kindOf(key);
  throw rowError(`the key function must return a string, not ${kind}`);
}

/** Half of a character: all of them would have the same hash. */
const loneSurrogate = /\p{Surrogate}/u;

/** Fails only this row. */
function rowError(message: string): ValidationError {
  return new ValidationError([{ path: [], code: "no_key", message }]);
}
