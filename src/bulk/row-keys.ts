import { ConfigurationError } from "../errors.ts";
import { sha256 } from "./hash.ts";
import type { BulkOptions } from "./options.ts";

/** Names the rows of a run, one after the other. */
export class RowKeys<Row> {
  readonly #keyOf: ((row: Row, index: number) => string) | undefined;
  /** With a checkpoint: how often each key has come. Without one, nothing is kept. */
  readonly #seen: Map<string, number> | undefined;

  constructor({ key }: BulkOptions<Row>, isRecorded: boolean) {
    this.#keyOf = key;
    this.#seen = isRecorded ? new Map() : undefined;
  }

  /** A row whose key cannot be had is named by its index, and comes with the error. */
  async next(row: Row, index: number): Promise<{ key: string; error?: unknown }> {
    try {
      return { key: this.#numbered(await this.#named(row, index)) };
    } catch (error) {
      return { key: String(index), error };
    }
  }

  async #named(row: Row, index: number): Promise<string> {
    if (this.#keyOf) return checkKey(this.#keyOf(row, index));
    return this.#seen ? await sha256(JSON.stringify(row) ?? "") : String(index);
  }

  #numbered(key: string): string {
    if (!this.#seen) return key;
    const count = (this.#seen.get(key) ?? 0) + 1;
    this.#seen.set(key, count);
    return count === 1 ? key : `${key}#${count}`;
  }
}

function checkKey(key: unknown): string {
  if (typeof key === "string" && key !== "") return key;
  const kind = key === "" ? "an empty text" : `a value of type ${typeof key}`;
  throw new ConfigurationError(`The key function must give a text that is not empty; it gave ${kind}.`);
}
