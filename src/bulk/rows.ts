import { type ConsentWrite, refusalsOf } from "../consent.ts";
import { ConfigurationError, ValidationError } from "../errors.ts";
import { isWrite } from "../prepare-write.ts";
import { awaitIt, ignoreRejection, kindOf } from "../values/in-words.ts";
import { hasMethods, isObject } from "../values/predicates.ts";
import type { BulkFunction, BulkOptions, RowWrites } from "./bulk-options.ts";
import { type RowWrite, rowWrite } from "./refusals.ts";

/** A row that was read, with its writes, which nobody has checked. */
export interface ReadRow<Row> {
  readonly index: number;
  readonly item: Row;
  readonly key: string | undefined;
  readonly writes: readonly RowWrite[];
  /** What all its writes say. */
  readonly said: readonly ConsentWrite[];
  /** Whether the function gave an array: so does its value. */
  readonly isList: boolean;
  /** Why the row is not sent; it has no writes then. */
  readonly problem: { readonly error: unknown } | undefined;
}

/** The function gave what is no write: it would for every row. */
class NoWriteError extends ConfigurationError {}

/** An array or any other iterable of rows, or of promises of rows. A string is none. */
export type BulkIterable<Row> = (Iterable<Row | PromiseLike<Row>> | AsyncIterable<Row>) & object;

/** Rows, or a function that gives them anew each time: with it, or a `length` or `size`, rows with a refusal go first. */
export type BulkRows<Row> = BulkIterable<Row> | (() => BulkIterable<Row>);

const longestTurnMs = 10;

/**
 * The rows of a run, one at a time. Rows that can be gone through twice are: those with a refusal go first, so that nobody's
 * refusal waits for others' changed addresses (contract: refusals first).
 */
export class Rows<Row> {
  /** The number of rows: their `length` or `size`, or the count of the first pass. */
  length: number | undefined;
  readonly #toWrites: BulkFunction<Row, RowWrites>;
  readonly #keyOf: BulkOptions<Row>["key"];
  readonly #give: () => unknown;
  readonly #inOrder: AsyncGenerator<ReadRow<Row>, unknown, undefined>;
  /** The first row, until it is taken. */
  #first: Promise<ReadRow<Row> | undefined> | undefined;
  #isReading = false;
  #isClosed = false;
  #turnBeganAt = performance.now();

  constructor(
    rows: BulkRows<Row>,
    toWrites: BulkFunction<Row, RowWrites>,
    { key }: Pick<BulkOptions<Row>, "key">,
    order: "refusals first" | "in order" = "refusals first",
  ) {
    this.#toWrites = toWrites;
    this.#keyOf = key;
    const isFunction = typeof rows === "function";
    this.#give = isFunction ? rows : () => rows;
    if (!isFunction) this.length = lengthOf(checkIterable(rows));
    const canBeReadTwice = isFunction || this.length !== undefined;
    this.#inOrder =
      canBeReadTwice && order === "refusals first" ? this.#refusalsFirst() : this.#pass(() => true);
  }

  /** Asks for the first row, in the turn in which a run begins (D101). */
  start(): void {
    this.#first ??= this.#read();
    // `next` rejects with it, unless the run ends before.
    this.#first.catch(() => undefined);
  }

  /** Undefined after the last row. Rejects with the error of the caller's iterable, and where the function gives no write. */
  async next(): Promise<ReadRow<Row> | undefined> {
    const next = this.#first ?? this.#read();
    this.#first = undefined;
    return await next;
  }

  /** Ends the caller's iteration, as the end of a loop does; does not wait for a row that is being read. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const closing = this.#inOrder.return(undefined);
    if (!this.#isReading) await closing;
    // The pending row is no longer needed, so an error of the cleanup is ignored.
    else closing.catch(() => undefined);
  }

  async #read(): Promise<ReadRow<Row> | undefined> {
    this.#isReading = true;
    try {
      const next = await this.#inOrder.next();
      return next.done ? undefined : next.value;
    } finally {
      this.#isReading = false;
    }
  }

  async *#refusalsFirst(): AsyncGenerator<ReadRow<Row>, void, undefined> {
    /** How many rows the first pass gave, by key or index, less those that the second has met. */
    const given = new Map<string | number, number>();
    const count = (row: ReadRow<Row>, change: 1 | -1): number => {
      const key = row.key ?? row.index;
      const left = (given.get(key) ?? 0) + change;
      given.set(key, left);
      return left;
    };
    this.length = yield* this.#pass((row) => isRefusing(row) && count(row, 1) > 0);
    if (this.#isClosed) return;
    const countAgain = yield* this.#pass((row) => !isRefusing(row) || count(row, -1) < 0);
    if (this.length > 0 && countAgain === 0)
      throw new ConfigurationError(
        "The rows of bulk have a length, and could be gone through only once: give a function that gives them anew, as in () => rows().",
      );
  }

  async *#pass(isDue: (row: ReadRow<Row>) => boolean): AsyncGenerator<ReadRow<Row>, number, undefined> {
    const rows = checkIterable<Row>(this.#give());
    // Promises that are there already may reject long before their rows are read: Node would end the process.
    if (Array.isArray(rows) || rows instanceof Set)
      for (const row of rows as Iterable<unknown>) ignoreRejection(row);
    let index = 0;
    // Safe: such a loop takes an iterable of rows, or of their promises, as well.
    for await (const item of rows as AsyncIterable<Row>) {
      // Rows that wait for nothing, such as skipped rows of an array, must not block timers, sockets and aborts.
      if (performance.now() - this.#turnBeganAt >= longestTurnMs) {
        await new Promise((resolve) => setTimeout(resolve, 0));
        this.#turnBeganAt = performance.now();
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
      const writes = checkWrites(settled, settled !== given);
      // Here, as getters of the row may throw.
      const rowWrites = [writes].flat().map(rowWrite);
      const said = rowWrites.flatMap((write) => write.said);
      return { index, item, key, writes: rowWrites, said, isList: Array.isArray(writes), problem: undefined };
    } catch (error) {
      if (error instanceof NoWriteError) throw error;
      return { index, item, key, writes: [], said: [], isList: false, problem: { error } };
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

export function isRefusing({ said }: ReadRow<unknown>): boolean {
  return said.some(({ consent }) => refusalsOf(consent).length > 0);
}

function checkWrites(given: unknown, isAsync: boolean): RowWrites {
  const writes: readonly unknown[] = Array.isArray(given) ? given : [given];
  // Safe: all of them are writes.
  if (writes.every(isWrite)) return given as RowWrites;
  const other = writes.find((each) => !isWrite(each));
  for (const each of writes) ignoreRejection(each);
  const kind = isCall(other)
    ? "the promise of a call, as audience.v1.… makes, which may have been sent"
    : kindOf(other);
  throw new NoWriteError(
    `The function of bulk must return a write, an array of writes, or [] for none, not ${kind}: ` +
      "(row) => write.v1.customers.upsert(row).",
    // It may be the value of a call.
    isCall(other) || isAsync ? "unknown" : "not-sent",
  );
}

/** Whether it is the promise of a call: unlike a write, a call is sent at once. */
function isCall(given: unknown): boolean {
  return hasMethods(given, "withResponse");
}

function checkKey(key: unknown): string {
  ignoreRejection(key);
  if (typeof key === "string" && key !== "") return key;
  throw rowError(
    `the key function must return a string that names the row, not ${kindOf(key)}: such as String(row.id)`,
  );
}

/** Ends only this row. */
export function rowError(message: string): ValidationError {
  return new ValidationError([{ path: [], code: "no_key", message }]);
}
