import { ConfigurationError, ValidationError } from "../errors.ts";
import { isWrite } from "../prepare-write.ts";
import { contentLost, kindOf } from "../schema/kind-of.ts";
import { errorMessage, ignoreRejection } from "../schema/parse-options.ts";
import { isRecord } from "../schema/predicates.ts";
import type { Write } from "../write.ts";
import { type RowWrite, rowWrite } from "./guard.ts";
import { hasRefusal } from "./refusals.ts";
import { type BulkIterable, type BulkRows, RowSource } from "./row-source.ts";

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

/**
 * The rows of a run, one at a time. Rows that can be gone through twice are: those with a refusal go first, so that nobody's
 * refusal waits for others' changed addresses (contract: refusals first).
 */
export class Rows<Row> {
  readonly #rows: BulkRows<Row>;
  readonly #toWrites: ToWrites<Row>;
  readonly #identity: RowIdentity<Row>;
  readonly #isRefusalsFirst: boolean;
  #source: RowSource<Row> | undefined;
  #length: number | undefined;
  #isSecondPass = false;
  #index = 0;
  #isClosed = false;
  /** The rows of the first pass, by key or index, with how many of a key there were. */
  readonly #taken = new Map<string | number, number>();

  constructor(
    rows: unknown,
    toWrites: ToWrites<Row>,
    identity: RowIdentity<Row>,
    order: "refusals first" | "in order" = "refusals first",
  ) {
    if (typeof rows !== "function") this.#source = new RowSource<Row>(rows);
    // Safe: a function, or an iterable; the caller types its rows.
    this.#rows = rows as BulkRows<Row>;
    this.#toWrites = toWrites;
    this.#identity = identity;
    this.#length = this.#source?.length;
    const canBeReadTwice = typeof rows === "function" || this.#length !== undefined;
    this.#isRefusalsFirst = canBeReadTwice && order === "refusals first";
  }

  /** The number of rows: their `length` or `size`, or what the first pass has counted. */
  get length(): number | undefined {
    return this.#length;
  }

  /** Asks for the first row, in the turn in which a run begins (D101). */
  start(): void {
    if (typeof this.#rows !== "function") this.#open().start();
  }

  /** Undefined after the last row. Rejects with the error of the caller's iterable, and where the function gives no write. */
  async next(): Promise<ReadRow<Row> | undefined> {
    while (!this.#isClosed) {
      const read = await this.#open().next();
      if (read.done) {
        if (!this.#isRefusalsFirst || this.#isSecondPass) return this.#ended();
        this.#beginSecondPass();
        continue;
      }
      const row = await this.#readRow(read.value, this.#index++);
      if (!this.#isRefusalsFirst || this.#isDue(row)) return row;
    }
    return undefined;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#source?.close();
  }

  #open(): RowSource<Row> {
    if (this.#source) return this.#source;
    // Safe: an iterable has a source from the beginning.
    const giveRows = this.#rows as () => BulkIterable<Row>;
    return (this.#source = new RowSource<Row>(giveRows()));
  }

  #beginSecondPass(): void {
    this.#isSecondPass = true;
    this.#length = this.#index;
    this.#index = 0;
    this.#source = typeof this.#rows === "function" ? undefined : new RowSource<Row>(this.#rows);
  }

  /** An iterator that can be gone through once gives nothing the second time. */
  #ended(): undefined {
    if (!this.#isSecondPass || this.#index > 0 || this.#length === 0) return undefined;
    throw new ConfigurationError(
      "The rows of bulk have a length, and could be gone through only once: give a function that gives them anew, as in () => rows().",
    );
  }

  /** In the first pass a row with a refusal, in the second pass each other one. */
  #isDue({ index, key, writes }: ReadRow<Row>): boolean {
    const name = key ?? index;
    const taken = this.#taken.get(name) ?? 0;
    const isRefusing = writes.some(({ said }) => hasRefusal(said));
    if (!this.#isSecondPass) {
      if (isRefusing) this.#taken.set(name, taken + 1);
      return isRefusing;
    }
    if (!isRefusing || taken === 0) return true;
    this.#taken.set(name, taken - 1);
    return false;
  }

  async #readRow(item: Row, index: number): Promise<ReadRow<Row>> {
    let key: string | undefined;
    try {
      key = this.#identity.key && checkKey(this.#identity.key(item, index));
      const writes = await this.#toWrites(item, index);
      // Here, as getters of the row may throw.
      return { index, item, key, writes: asWrites(writes).map(rowWrite), isList: Array.isArray(writes) };
    } catch (error) {
      if (error instanceof NoWriteError) throw error;
      return { index, item, key, writes: [], isList: false, problem: { error } };
    }
  }
}

function asWrites(given: unknown): readonly Write[] {
  const writes: readonly unknown[] = Array.isArray(given) ? given : [given];
  if (writes.every(isWrite)) return writes;
  const other = writes.find((each) => !isWrite(each));
  throw new NoWriteError(
    `The function of bulk must return a write, an array of writes, or [] for none, not ${kindOf(other)}: ` +
      "(row) => write.v1.customers.upsert(row).",
  );
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

/** Ends only this row. */
function rowError(message: string): ValidationError {
  return new ValidationError([{ path: [], code: "no_key", message }]);
}

/**
 * What is compared over nights: the writes without their options but `consent`, or what `fingerprint` gives and the consents
 * of the writes. Undefined for writes that JSON cannot carry: their endpoints refuse them.
 */
export function comparedText<Row>(
  { item, writes }: Pick<ReadRow<Row>, "item" | "writes">,
  { fingerprint }: RowIdentity<Row>,
): string | undefined {
  if (fingerprint) {
    const given: unknown = fingerprint(item);
    ignoreRejection(given);
    try {
      return canonicalJson([given, writes.map(({ said }) => [...said])]);
    } catch (error) {
      throw rowError(
        `the result of \`fingerprint\` cannot be written as JSON (${errorMessage(error)}): return a string or a JSON value`,
      );
    }
  }
  try {
    return canonicalJson(
      writes.map(({ write: { options, ...write } }) => ({
        ...write,
        consent: (options as { consent?: unknown })?.consent,
      })),
    );
  } catch {
    return undefined;
  }
}

/** JSON, whatever the order of keys. Throws if JSON cannot carry the value. */
export function canonicalJson(value: unknown): string {
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
