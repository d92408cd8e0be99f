import { type ConsentWrite, refusalsOf } from "../consent.ts";
import { ConfigurationError, ValidationError } from "../errors.ts";
import { isWrite, type RowWrite, rowWrite } from "../prepare-write.ts";
import { awaitIt, ignoreRejection, kindOf } from "../values/in-words.ts";
import { hasMethods, isObject } from "../values/predicates.ts";
import type { BulkFunction, BulkOptions, RowWrites } from "./bulk-options.ts";

/** A row that was read, with its writes, which nobody has checked. */
export interface ReadRow<Row> {
  readonly index: number;
  readonly item: Row;
  readonly key: string | undefined;
  readonly writes: readonly RowWrite[];
  /** The consents that all writes of the row state. */
  readonly consents: readonly ConsentWrite[];
  /** Whether the function of the row gave an array of writes: its value is then one too. */
  readonly gaveArray: boolean;
  /** Why the row is not sent; it has no writes then. */
  readonly problem: { readonly error: unknown } | undefined;
}

/** The function of a row gave what is no write: it would for every row. */
class NoWriteError extends ConfigurationError {}

/** An array or any other iterable of rows, or of promises of rows. A string is none. */
export type BulkIterable<Row> = (Iterable<Row | PromiseLike<Row>> | AsyncIterable<Row>) & object;

/** Rows, or a function that gives them anew each time: with it, or a `length` or `size`, rows with a refusal go first. */
export type BulkRows<Row> = BulkIterable<Row> | (() => BulkIterable<Row>);

const longestReadingMs = 10;

/**
 * The rows of a run, one at a time. Rows that can be gone through twice are: those with a refusal go first, so that nobody's
 * refusal waits for others' changed addresses (contract: refusals first).
 */
export class Rows<Row> {
  /** The number of rows: their `length` or `size`, or the count of the first pass. */
  length: number | undefined;
  readonly #toWrites: BulkFunction<Row, RowWrites>;
  readonly #keyOf: BulkOptions<Row>["key"];
  readonly #rowsAnew: () => unknown;
  readonly #readRows: AsyncGenerator<ReadRow<Row>, unknown, undefined>;
  /** The first row, until it is taken. */
  #firstRow: Promise<ReadRow<Row> | undefined> | undefined;
  #isReading = false;
  #isClosed = false;
  #readingSince = performance.now();

  constructor(
    rows: BulkRows<Row>,
    toWrites: BulkFunction<Row, RowWrites>,
    { key }: Pick<BulkOptions<Row>, "key">,
    order: "refusals first" | "in order" = "refusals first",
  ) {
    this.#toWrites = toWrites;
    this.#keyOf = key;
    const isFunction = typeof rows === "function";
    this.#rowsAnew = isFunction ? rows : () => rows;
    if (!isFunction) this.length = lengthOf(checkIterable(rows));
    const canBeReadTwice = isFunction || this.length !== undefined;
    this.#readRows =
      canBeReadTwice && order === "refusals first" ? this.#refusalsFirst() : this.#pass(() => true);
  }

  /** Asks for the first row, in the turn in which a run begins (D101). */
  start(): void {
    this.#firstRow ??= this.#read();
    // `next` rejects with the error of that row, unless the run ends before.
    this.#firstRow.catch(() => undefined);
  }

  /** The next row, or undefined. Rejects with the error of the caller's rows, and where the function gives no write. */
  async next(): Promise<ReadRow<Row> | undefined> {
    const nextRow = this.#firstRow ?? this.#read();
    this.#firstRow = undefined;
    return await nextRow;
  }

  /** Ends the caller's iteration, as the end of a loop does; does not wait for a row that is being read. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const closing = this.#readRows.return(undefined);
    if (!this.#isReading) await closing;
    // The pending row is no longer needed, so an error of the cleanup is ignored.
    else closing.catch(() => undefined);
  }

  async #read(): Promise<ReadRow<Row> | undefined> {
    this.#isReading = true;
    try {
      const read = await this.#readRows.next();
      return read.done ? undefined : read.value;
    } finally {
      this.#isReading = false;
    }
  }

  async *#refusalsFirst(): AsyncGenerator<ReadRow<Row>, void, undefined> {
    const idOf = ({ key, index }: ReadRow<Row>) => key ?? index;
    /** The ids of the rows that the first pass gave, by index; and how many, less those of the second pass so far. */
    const givenIds = new Map<number, string | number>();
    const rowsLeft = new Map<string | number, number>();
    const count = (row: ReadRow<Row>, change: 1 | -1): number => {
      givenIds.set(row.index, idOf(row));
      const left = (rowsLeft.get(idOf(row)) ?? 0) + change;
      rowsLeft.set(idOf(row), left);
      return left;
    };
    this.length = yield* this.#pass((row) => isRefusing(row) && count(row, 1) > 0);
    if (this.#isClosed) return;
    const countAgain = yield* this.#pass((row) => {
      // A row has one result, also if its function says something else by now.
      const isGiven = isRefusing(row) || givenIds.get(row.index) === idOf(row);
      return !isGiven || count(row, -1) < 0;
    });
    if (this.length > 0 && countAgain === 0)
      throw new ConfigurationError(
        "The rows of bulk have a length, and could be gone through only once: give a function that gives them anew, as in () => rows().",
        // Their refusals were sent.
        "unknown",
      );
  }

  async *#pass(isDue: (row: ReadRow<Row>) => boolean): AsyncGenerator<ReadRow<Row>, number, undefined> {
    const rows = checkIterable<Row>(this.#rowsAnew());
    // Promises that are there already may reject long before their rows are read: Node would end the process.
    if (Array.isArray(rows) || rows instanceof Set)
      for (const row of rows as Iterable<unknown>) ignoreRejection(row);
    let index = 0;
    // Safe: such a loop takes an iterable of rows, or of their promises, as well.
    for await (const item of rows as AsyncIterable<Row>) {
      // Rows that wait for nothing, such as skipped rows of an array, must not block timers, sockets and aborts.
      if (performance.now() - this.#readingSince >= longestReadingMs) {
        await new Promise((resolve) => setTimeout(resolve, 0));
        this.#readingSince = performance.now();
      }
      if (this.#isClosed) break;
      const row = await this.read(item, index++);
      if (isDue(row)) yield row;
    }
    return index;
  }

  /** Asks the caller's functions for the key and the writes of a row. */
  async read(item: Row, index: number): Promise<ReadRow<Row>> {
    let key: string | undefined;
    try {
      key = this.#keyOf && checkKey(this.#keyOf(item, index));
      const given: unknown = this.#toWrites(item, index);
      // The promise of a call is none of writes, however the call ends.
      const settled = isCall(given) ? given : await given;
      const checked = checkWrites(settled, settled !== given);
      // Here, as getters of the row may throw.
      const writes = [checked].flat().map(rowWrite);
      const consents = writes.flatMap((write) => write.consents);
      return { index, item, key, writes, consents, gaveArray: Array.isArray(checked), problem: undefined };
    } catch (error) {
      if (error instanceof NoWriteError) throw error;
      return { index, item, key, writes: [], consents: [], gaveArray: false, problem: { error } };
    }
  }
}

function checkIterable<Row>(rows: unknown): BulkIterable<Row> {
  ignoreRejection(rows);
  if (!isObject(rows) || !(Symbol.asyncIterator in rows || Symbol.iterator in rows))
    throw new ConfigurationError(
      `The rows of bulk must be an array or another iterable, not ${kindOf(rows)}${awaitIt(rows)}.`,
    );
  // Safe: it has the method of an iterable; the caller types its rows.
  return rows as BulkIterable<Row>;
}

function lengthOf(rows: object): number | undefined {
  const { length, size } = rows as { length?: unknown; size?: unknown };
  // Safe: a safe integer is a number.
  return [length, size].find(Number.isSafeInteger) as number | undefined;
}

export function isRefusing({ consents }: ReadRow<unknown>): boolean {
  return consents.some(({ consent }) => refusalsOf(consent).length > 0);
}

function checkWrites(rowWrites: unknown, isAsync: boolean): RowWrites {
  const writes: readonly unknown[] = Array.isArray(rowWrites) ? rowWrites : [rowWrites];
  // Safe: all of them are writes.
  if (writes.every(isWrite)) return rowWrites as RowWrites;
  const noWrite = writes.find((each) => !isWrite(each));
  for (const each of writes) ignoreRejection(each);
  const kind = isCall(noWrite)
    ? "the promise of a call, as audience.v1.… makes, which may have been sent"
    : kindOf(noWrite);
  throw new NoWriteError(
    `The function of bulk must return a write, an array of writes, or [] for none, not ${kind}: ` +
      "(row) => write.v1.customers.upsert(row).",
    // The function may have given the value of a call.
    isCall(noWrite) || isAsync ? "unknown" : "not-sent",
  );
}

/** Whether the function gave the promise of a call: unlike a write, a call is sent at once. */
function isCall(given: unknown): boolean {
  return hasMethods(given, "withResponse");
}

function checkKey(key: unknown): string {
  ignoreRejection(key);
  if (typeof key === "string" && key !== "") return key;
  const message = `the key function must return a string that names the row, not ${kindOf(key)}: such as String(row.id)`;
  // It ends only this row.
  throw new ValidationError([{ path: [], code: "no_key", message }]);
}
