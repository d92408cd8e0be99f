import { ConfigurationError, ValidationError } from "../errors.ts";
import { awaitIt, contentLost, kindOf } from "../schema/kind-of.ts";
import { errorMessage, ignoreRejection } from "../schema/parse-options.ts";
import { isObject, isRecord } from "../schema/predicates.ts";
import type { BulkOptions } from "./bulk-options.ts";
import { shortHash } from "./hash.ts";
import { Journal } from "./journal.ts";
import { RowLog, type RowKey } from "./row-log.ts";

/** An array or any other iterable of rows, or of promises of rows. A string is none. */
export type BulkRows<Row> = (Iterable<Row | PromiseLike<Row>> | AsyncIterable<Row>) & object;

const longestTurnMs = 10;

/** The rows of a run, one at a time. The caller's iterable is not touched before the run begins. */
export class RowSource<Row> {
  /** The `length` or `size` of the rows, if they have one. */
  readonly length: number | undefined;
  readonly #rows: BulkRows<Row>;
  #iterator: Iterator<Row | PromiseLike<Row>> | AsyncIterator<Row> | undefined;
  /** The first row, until it is taken. */
  #first: Promise<IteratorResult<Row, unknown>> | undefined;
  #isReading = false;
  #isOver = false;
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

function wayOutOf(rows: unknown): string {
  return typeof rows === "function" ? ": call it, as in rows()" : awaitIt(rows);
}

/** A row that was read. */
export interface ReadRow<Row> {
  readonly index: number;
  readonly item: Row;
  readonly key: RowKey;
  readonly record: RowLog;
}

/** Reads the rows of a run one after the other, with their keys and records. */
export interface RowReader<Row> {
  /** Undefined after the last row. Rejects if the source or the checkpoint cannot be read. */
  next(): Promise<ReadRow<Row> | undefined>;
  /** The next row with the same key waits for the end of this one. */
  began(row: ReadRow<Row>, end: Promise<unknown>): Promise<void>;
}

export function rowReader<Row>(
  source: RowSource<Row>,
  options: BulkOptions<Row>,
  journal: Journal,
): RowReader<Row> {
  /** With a checkpoint: the last number that each key so far has been given. */
  const lastNumbers = new Map<string, number>();
  /** The ends of the rows under way, by the key of a further row with the same key. */
  const ends = new Map<string, Promise<unknown>>();
  let count = 0;
  return { next, began };

  async function next(): Promise<ReadRow<Row> | undefined> {
    const read = await source.next();
    if (read.done) return undefined;
    const index = count++;
    const item = read.value;
    const key = await keyOf(item, index).catch((error: unknown): RowKey => ({
      key: String(index),
      nextKey: "",
      fingerprint: "",
      problem: { error },
    }));
    // Of two rows with one key the last shall have the last word; and the end of the first decides whether it is sent again.
    await ends.get(key.key);
    return { index, item, key, record: await RowLog.open(key.problem ? Journal.inMemory() : journal, key) };
  }

  async function began({ key: { nextKey } }: ReadRow<Row>, end: Promise<unknown>): Promise<void> {
    ends.set(nextKey, end);
    await end;
    ends.delete(nextKey);
  }

  /** Without a checkpoint only the key counts. */
  async function keyOf(row: Row, index: number): Promise<RowKey> {
    const { key } = options;
    const given = key && checkKey(key(row, index));
    if (!journal.isRecorded) return { key: given ?? String(index), nextKey: given ?? "", fingerprint: "" };
    const fingerprint = await fingerprintOfRow(row, options);
    return { ...numbered(given ?? fingerprint), fingerprint };
  }

  /** The second row with a key gets the suffix `#2`, or the next number that no other row has as its key. */
  function numbered(given: string): Pick<RowKey, "key" | "previousKey" | "nextKey"> {
    // A copy: a part of a string, as a cell of a line, keeps the whole string in memory.
    const key = JSON.parse(JSON.stringify(given)) as string;
    const last = lastNumbers.get(key);
    const previousKey = last === undefined ? undefined : last === 1 ? key : `${key}#${last}`;
    let number = last ?? 1;
    let unique = key;
    while (lastNumbers.has(unique)) unique = `${key}#${++number}`;
    lastNumbers.set(unique, 1).set(key, number);
    return { key: unique, previousKey, nextKey: `${key}#${number + 1}` };
  }
}

async function fingerprintOfRow<Row>(row: Row, { fingerprint }: BulkOptions<Row>): Promise<string> {
  const given: unknown = fingerprint ? fingerprint(row) : row;
  ignoreRejection(given);
  try {
    return await shortHash(canonicalJson(given));
  } catch (error) {
    const subject = fingerprint ? "the result of `fingerprint`" : "the row";
    const wayOut = fingerprint ? "return a string or a JSON value" : "give a `fingerprint`";
    throw rowError(`${subject} cannot be written as JSON (${errorMessage(error)}): ${wayOut}`);
  }
}

function checkKey(key: unknown): string {
  ignoreRejection(key);
  if (typeof key === "string" && key !== "" && !loneSurrogate.test(key)) return key;
  const kind = key === "" ? "an empty string" : typeof key === "string" ? "half a character" : kindOf(key);
  throw rowError(
    `the key function must return a string that names the row, not ${kind}: such as String(row.id)`,
  );
}

/** Half of a character: all of them would have the same hash. */
const loneSurrogate = /\p{Surrogate}/u;

/** Fails only this row. */
function rowError(message: string): ValidationError {
  return new ValidationError([{ path: [], code: "no_key", message }]);
}

/** JSON, whatever the order of keys. Throws if JSON cannot carry the value. */
function canonicalJson(value: unknown): string {
  const json = JSON.stringify(value, (_, each: unknown) => {
    if (!isRecord(each)) return each;
    // The JSON of a Map or a Promise is `{}`: all of them would have one fingerprint.
    const lost = contentLost(each);
    if (lost !== undefined) throw new TypeError(`it holds ${lost}`);
    return Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
  if (json === undefined) throw new TypeError(`it is ${typeof value}`);
  return json;
}
