import { ValidationError } from "../errors.ts";
import { kindOf } from "../schema/kind-of.ts";
import { hearOut } from "../hear-out.ts";
import { wordsOf } from "../words-of.ts";
import { chainedFingerprint, fingerprintOf } from "./fingerprint.ts";
import { hashOf } from "./key-hash.ts";
import type { BulkOptions } from "./options.ts";

/** A row's key and fingerprint; with the error, where they cannot be had and its index stands in. */
export interface KeyedRow {
  readonly key: string;
  readonly fingerprint: string;
  readonly problem?: { readonly error: unknown };
}

/** Gives the rows of a run their keys, and with a checkpoint their fingerprints, one after the other. */
export class RowKeys<Row> {
  readonly #options: BulkOptions<Row>;
  readonly #isRecorded: boolean;
  /** With a checkpoint: for the hash of each key that has come, a hash of the fingerprints of its rows in their order. */
  readonly #seen = new Map<number, number>();
  readonly #repeats = new Map<string, number>();

  constructor(options: BulkOptions<Row>, isRecorded: boolean) {
    this.#options = options;
    this.#isRecorded = isRecorded;
  }

  async next(row: Row, index: number): Promise<KeyedRow> {
    try {
      const { key } = this.#options;
      const given = key ? checkKey(key(row, index)) : undefined;
      if (!this.#isRecorded) return { key: given ?? String(index), fingerprint: "" };
      const fingerprint = await this.#fingerprint(row);
      return this.#numbered(given ?? fingerprint, fingerprint);
    } catch (error) {
      return { key: String(index), fingerprint: "", problem: { error } };
    }
  }

  async #fingerprint(row: Row): Promise<string> {
    const { fingerprint } = this.#options;
    const given: unknown = fingerprint ? fingerprint(row) : row;
    hearOut(given);
    try {
      return await fingerprintOf(given);
    } catch (error) {
      const wayOut = fingerprint ? "let it give a string or a JSON value" : "give a `fingerprint`";
      const what = fingerprint ? "what `fingerprint` gave" : "the row";
      throw rowError(`${what} cannot be written as JSON (${wordsOf(error)}): ${wayOut}`);
    }
  }

  /**
   * The second row with a key gets `#2` behind it; or the next number that no other row has as its key. It is sent again
   * where it has changed, and where one before it has: the last of them is what the service shall hold.
   */
  #numbered(key: string, fingerprint: string): KeyedRow {
    const before = this.#seen.get(hashOf(key));
    if (before === undefined) {
      this.#seen.set(hashOf(key), hashOf(fingerprint));
      return { key, fingerprint };
    }
    this.#seen.set(hashOf(key), hashOf(`${before} ${fingerprint}`));
    for (let count = (this.#repeats.get(key) ?? 1) + 1; ; count++) {
      const numbered = `${key}#${count}`;
      if (this.#seen.has(hashOf(numbered))) continue;
      this.#repeats.set(key, count);
      this.#seen.set(hashOf(numbered), 0);
      return { key: numbered, fingerprint: chainedFingerprint(fingerprint, before) };
    }
  }
}

function checkKey(key: unknown): string {
  hearOut(key);
  if (typeof key === "string" && key !== "" && !brokenCharacter.test(key)) return key;
  const kind = key === "" ? "an empty string" : typeof key === "string" ? "half a character" : kindOf(key);
  throw rowError(`the key function must give a string, not ${kind}`);
}

/** Half of a surrogate pair: a hash takes all of them for one. */
const brokenCharacter = /\p{Surrogate}/u;

/** One bad row ends nothing but itself. */
function rowError(message: string): ValidationError {
  return new ValidationError([{ path: [], code: "no_key", message }]);
}
