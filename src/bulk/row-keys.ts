import { ValidationError } from "../errors.ts";
import { kindOf } from "../schema/kind-of.ts";
import { ignoreRejection, errorMessage } from "../schema/user-function.ts";
import { fingerprintOf } from "./fingerprint.ts";
import type { BulkOptions } from "./options.ts";

/** A row's key and fingerprint; if they cannot be made, the index and the error. */
export interface RowKey {
  readonly key: string;
  /** The key of a further row with the same key. */
  readonly nextKey: string;
  readonly fingerprint: string;
  readonly problem?: { readonly error: unknown };
}

/** Makes the keys of a run's rows, and with a checkpoint their fingerprints. */
export class RowKeys<Row> {
  readonly #options: BulkOptions<Row>;
  readonly #isRecorded: boolean;
  /** With a checkpoint: the last number that each key so far has been given. */
  readonly #lastNumbers = new Map<string, number>();

  constructor(options: BulkOptions<Row>, isRecorded: boolean) {
    this.#options = options;
    this.#isRecorded = isRecorded;
  }

  async next(row: Row, index: number): Promise<RowKey> {
    try {
      const { key } = this.#options;
      const given = key && checkKey(key(row, index));
      if (!this.#isRecorded) return { key: given ?? String(index), nextKey: "", fingerprint: "" };
      const fingerprint = await this.#fingerprint(row);
      return { ...this.#numbered(given ?? fingerprint), fingerprint };
    } catch (error) {
      return { key: String(index), nextKey: "", fingerprint: "", problem: { error } };
    }
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
  #numbered(key: string): { key: string; nextKey: string } {
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
