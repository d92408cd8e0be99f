import { hashOf } from "./key-hash.ts";
import { wordsOf } from "../words-of.ts";
import type { BulkOptions } from "./options.ts";
import { isRecord } from "../is-object.ts";
import { ValidationError } from "../errors.ts";
import { hearOut } from "../hear-out.ts";
import { sha256 } from "./hash.ts";
import { contentLost, kindOf } from "../schema/kind-of.ts";

/** A row's name; with the error, where it cannot be had and its index stands in. */
export interface NamedRow {
  readonly key: string;
  readonly problem?: { readonly error: unknown };
}

/** Names the rows of a run, one after the other. */
export class RowKeys<Row> {
  readonly #keyOf: ((row: Row, index: number) => string) | undefined;
  /** With a checkpoint: the hashes of the keys that have come, and how often those that came again. Else nothing. */
  readonly #seen: Set<number> | undefined;
  readonly #repeats = new Map<string, number>();

  constructor({ key }: BulkOptions<Row>, isRecorded: boolean) {
    this.#keyOf = key;
    this.#seen = isRecorded ? new Set() : undefined;
  }

  async next(row: Row, index: number): Promise<NamedRow> {
    try {
      return { key: this.#numbered(await this.#named(row, index)) };
    } catch (error) {
      return { key: String(index), problem: { error } };
    }
  }

  async #named(row: Row, index: number): Promise<string> {
    if (this.#keyOf) return checkKey(this.#keyOf(row, index));
    return this.#seen ? await sha256(textOf(row)) : String(index);
  }

  /** The second row with a key gets `#2` behind it; or the next number that no other row has as its key. */
  #numbered(key: string): string {
    if (this.#isNew(key)) return key;
    for (let count = (this.#repeats.get(key) ?? 1) + 1; ; count++) {
      const numbered = `${key}#${count}`;
      if (!this.#isNew(numbered)) continue;
      this.#repeats.set(key, count);
      return numbered;
    }
  }

  #isNew(key: string): boolean {
    if (!this.#seen) return true;
    const { size } = this.#seen;
    return this.#seen.add(hashOf(key)).size > size;
  }
}

function checkKey(key: unknown): string {
  hearOut(key);
  if (typeof key === "string" && key !== "" && !brokenCharacter.test(key)) return key;
  const kind = key === "" ? "an empty text" : typeof key === "string" ? "half a character" : kindOf(key);
  throw rowError(`the key function must give a text, not ${kind}`);
}

/** Half of a surrogate pair: a hash takes all of them for one. */
const brokenCharacter = /\p{Surrogate}/u;

// As many as can be sent (D16).
const mostValues = 200_000;

function textOf(row: unknown): string {
  try {
    let values = 0;
    // One object that stands in a row a billion times would be written for ever.
    const counted = (_: string, value: unknown) => {
      if (++values > mostValues) throw new RangeError(`it holds more than ${mostValues} values`);
      const lost = isRecord(value) ? contentLost(value) : undefined;
      // All that show nothing would have one name.
      if (lost !== undefined) throw new TypeError(`it holds ${lost}`);
      return value;
    };
    return JSON.stringify(row, counted) ?? typeof row;
  } catch (error) {
    throw rowError(`the row cannot be written as JSON (${wordsOf(error)}): give a \`key\``);
  }
}

/** One bad row ends nothing but itself. */
function rowError(message: string): ValidationError {
  return new ValidationError([{ path: [], code: "no_key", message }]);
}
