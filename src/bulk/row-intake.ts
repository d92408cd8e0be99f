import { ConnectionError, ValidationError } from "../errors.ts";
import { kindOf } from "../schema/kind-of.ts";
import { ignoreRejection, errorMessage } from "../schema/user-function.ts";
import { eventIdOf, fingerprintOf } from "./fingerprint.ts";
import type { BulkOptions } from "./options.ts";
import type { RecordedRun } from "./recorded-run.ts";
import type { RowEnd } from "./row-call.ts";
import { RowRecord, type RowKey } from "./row-record.ts";
import type { RowSource } from "./rows.ts";

/** A row that was read. */
export interface ReadRow<Row> {
  readonly index: number;
  readonly item: Row;
  readonly key: RowKey;
  readonly record: RowRecord;
  /** The end that an earlier run recorded, if it still holds. */
  readonly recordedEnd: RowEnd<never> | undefined;
  /** For an event without an id; undefined without a checkpoint. */
  readonly eventId: string | undefined;
  /** Why the row has no key. */
  readonly problem?: { readonly error: unknown };
}

/** Reads the rows of a run one after the other, with their keys and records. */
export class RowIntake<Row> {
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
    const run = this.#run;
    let key: RowKey;
    try {
      key = await this.#keyOf(item, index);
    } catch (error) {
      const noKey = { key: String(index), nextKey: "", fingerprint: "" };
      const record = await RowRecord.read(undefined, noKey);
      return {
        index,
        item,
        key: noKey,
        record,
        recordedEnd: undefined,
        eventId: undefined,
        problem: { error },
      };
    }
    // The end of the row before with the same key decides whether this one is sent again.
    await this.#ends.get(key.key);
    const record = await RowRecord.read(run, key);
    const recordedEnd = recordedEndOf(record);
    const eventId = run && !recordedEnd ? await eventIdOf(run.id, key.key, record.version) : undefined;
    return { index, item, key, record, recordedEnd, eventId };
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

/** A row in doubt stays in doubt even if it has changed. */
function recordedEndOf({ before, isUnchanged }: RowRecord): RowEnd<never> | undefined {
  if (before?.state === "in-doubt") return { status: "unknown", error: inDoubt() };
  if (!isUnchanged) return undefined;
  if (before?.state === "succeeded") return { status: "skipped" };
  return before?.state === "superseded" ? { status: "superseded" } : undefined;
}

function inDoubt(): ConnectionError {
  const message = "Not sent again: an earlier run may have carried it out.";
  return new ConnectionError({ message, outcome: "unknown", reason: "other" });
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
