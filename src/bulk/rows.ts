import { ConfigurationError, ValidationError } from "../errors.ts";
import { isWrite } from "../prepare-write.ts";
import { ignoreRejection } from "../values/error-message.ts";
import { awaitIt, kindOf } from "../values/kind-of.ts";
import { hasMethods, isObject } from "../values/predicates.ts";
import type { Write } from "../write.ts";
import { refusalsOf, type RowWrite, rowWrite } from "./refusals.ts";

/** Gives the writes of a row: one, several in an array, or none (`[]`). It may be called more than once for a row. */
export type ToWrites<Row> = (row: Row, index: number) => unknown;

/** How rows are told apart and compared. */
export interface RowIdentity<Row> {
  readonly key?: ((row: Row, index: number) => string) | undefined;
  readonly fingerprint?: ((row: Row) => unknown) | undefined;
}

/** A row that was read, with its writes, which nobody has checked. */
export interface ReadRow<Row> {
  readonly index: number;
  readonly item: Row;
  /** The caller's key; undefined without one. */
  readonly key: string | undefined;
  readonly writes: readonly RowWrite[];
  /** Whether the function gave an array: so does its value. */
  readonly isList: boolean;
  /** Why the row is not sent; it has no writes then. */
  readonly problem?: { readonly error: unknown };
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
  readonly #toWrites: ToWrites<Row>;
  readonly #identity: RowIdentity<Row>;
  readonly #give: () => BulkIterable<Row>;
  readonly #inOrder: AsyncGenerator<ReadRow<Row>, unknown, undefined>;
  /** The first row, until it is taken. */
  #first: Promise<ReadRow<Row> | undefined> | undefined;
  #hasBegun = false;
  #isReading = false;
  #isClosed = false;
  #turnBeganAt = performance.now();

  constructor(
    rows: unknown,
    toWrites: ToWrites<Row>,
    identity: RowIdentity<Row>,
    order: "refusals first" | "in order" = "refusals first",
  ) {
    this.#toWrites = toWrites;
    this.#identity = identity;
    if (isFunction(rows)) this.#give = () => checkIterable(rows());
    else {
      const iterable = checkIterable<Row>(rows);
      this.#give = () => iterable;
      this.length = lengthOf(iterable);
    }
    const canBeReadTwice = isFunction(rows) || this.length !== undefined;
    this.#inOrder =
      canBeReadTwice && order === "refusals first" ? this.#refusalsFirst() : this.#pass(() => true);
  }

  /** Asks for the first row, in the turn in which a run begins (D101). */
  start(): void {
    if (this.#hasBegun) return;
    this.#first = this.#read();
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
    this.#hasBegun = this.#isReading = true;
    try {
      const next = await this.#inOrder.next();
      return next.done ? undefined : next.value;
    } finally {
      this.#isReading = false;
    }
  }

  async *#refusalsFirst(): AsyncGenerator<ReadRow<Row>, void, undefined> {
    /** The rows of the first pass, by key or index, with how many of a key there were. */
    const taken = new Map<string | number, number>();
    const count = yield* this.#pass((row) => {
      const { index, key = index } = row;
      if (!isRefusing(row)) return false;
      taken.set(key, (taken.get(key) ?? 0) + 1);
      return true;
    });
    if (this.#isClosed) return;
    this.length = count;
    const countAgain = yield* this.#pass((row) => {
      const { index, key = index } = row;
      const left = taken.get(key) ?? 0;
      if (left === 0 || !isRefusing(row)) return true;
      taken.set(key, left - 1);
      return false;
    });
    if (count > 0 && countAgain === 0 && !this.#isClosed)
      throw new ConfigurationError(
        "The rows of bulk have a length, and could be gone through only once: give a function that gives them anew, as in () => rows().",
      );
  }

  /** Goes through all rows. Returns their number. */
  async *#pass(isDue: (row: ReadRow<Row>) => boolean): AsyncGenerator<ReadRow<Row>, number, undefined> {
    const rows = this.#give();
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
      const row = await this.#readRow(item, index++);
      if (isDue(row)) yield row;
    }
    return index;
  }

  async #readRow(item: Row, index: number): Promise<ReadRow<Row>> {
    let key: string | undefined;
    try {
      key = this.#identity.key && checkKey(this.#identity.key(item, index));
      const given = this.#toWrites(item, index);
      // The promise of a call is none of writes, however the call ends.
      const writes = isCall(given) ? given : await given;
      // Here, as getters of the row may throw.
      return { index, item, key, writes: asWrites(writes).map(rowWrite), isList: Array.isArray(writes) };
    } catch (error) {
      if (error instanceof NoWriteError) throw error;
      return { index, item, key, writes: [], isList: false, problem: { error } };
    }
  }
}

function isFunction(rows: unknown): rows is () => unknown {
  return typeof rows === "function";
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
  return [length, size].find((count) => Number.isSafeInteger(count)) as number | undefined;
}

/** Whether it refuses something. */
export function isRefusing({ writes }: Pick<ReadRow<unknown>, "writes">): boolean {
  return writes.some(({ said }) => refusalsOf(said).length > 0);
}

function asWrites(given: unknown): readonly Write[] {
  const writes: readonly unknown[] = Array.isArray(given) ? given : [given];
  if (writes.every(isWrite)) return writes;
  const other = writes.find((each) => !isWrite(each));
  for (const each of writes) ignoreRejection(each);
  const rule = "The function of bulk must return a write, an array of writes, or [] for none, not";
  const example = "(row) => write.v1.customers.upsert(row)";
  if (!isCall(other)) throw new NoWriteError(`${rule} ${kindOf(other)}: ${example}.`);
  throw new NoWriteError(
    `${rule} the promise of a call, as audience.v1.… makes, which may have been sent: ${example}.`,
    "unknown",
  );
}

/** Whether it is the promise of a call: unlike a write, a call is sent at once. */
function isCall(given: unknown): boolean {
  return hasMethods(given, "withResponse");
}

function checkKey(key: unknown): string {
  ignoreRejection(key);
  if (typeof key === "string" && key !== "") return key;
  const kind = key === "" ? "an empty string" : kindOf(key);
  throw rowError(
    `the key function must return a string that names the row, not ${kind}: such as String(row.id)`,
  );
}

/** Ends only this row. */
export function rowError(message: string): ValidationError {
  return new ValidationError([{ path: [], code: "no_key", message }]);
}
