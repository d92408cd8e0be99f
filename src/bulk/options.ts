import type { Checkpoint } from "./checkpoint.ts";
import type { BulkProgress } from "./result.ts";
import { ConfigurationError } from "../errors.ts";
import { readOptions, rules } from "../option-checks.ts";

/** Options of `audience.bulk`. */
export interface BulkOptions<Row> {
  /** Rows under way at a time. Default 10. */
  concurrency?: number | undefined;
  /** Aborted, the run ends with an `AbortError` as soon as what is in flight has ended. */
  signal?: AbortSignal | undefined;
  /** How many rows there are, where the source does not say: for `onProgress`. */
  total?: number | undefined;
  /** Names a row over restarts. Default: its index; with a checkpoint, a hash of the row. */
  key?: ((row: Row, index: number) => string) | undefined;
  /** Keeps track of the rows, so that a run that was killed goes on where it was. */
  checkpoint?: Checkpoint | undefined;
  /** Called after each row. What it throws changes nothing. */
  onProgress?: ((progress: BulkProgress) => void) | undefined;
  /**
   * Whether an error is one that every other row would meet too, and so ends the run. Default: `AuthenticationError`,
   * `PermissionError`, `ConfigurationError`, and a `NotFoundError` of `addContact`.
   */
  stopWhen?: ((error: unknown) => boolean) | undefined;
}

const allowed = {
  concurrency: rules.positiveCount,
  signal: rules.signal,
  total: rules.count,
  key: rules.function,
  checkpoint: rules.object,
  onProgress: rules.function,
  stopWhen: rules.function,
};

/** Throws a `ConfigurationError` that names the option. */
export function readBulkOptions<Row>(options: unknown): BulkOptions<Row> {
  // The rules have found each value to be what BulkOptions says.
  return readOptions(options ?? {}, allowed, "The options of bulk") as BulkOptions<Row>;
}

/** The rows, one at a time; their number, where they tell it. */
export function readRows<Row>(rows: unknown): { source: AsyncIterator<Row> | Iterator<Row>; length: number | undefined } {
  if (typeof rows === "object" && rows !== null) {
    const { length, size } = rows as { length?: unknown; size?: unknown };
    const known = [length, size].find((count) => Number.isSafeInteger(count)) as number | undefined;
    // What has such a method is iterated; what it gives is the caller's to type.
    if (Symbol.asyncIterator in rows) return { source: (rows as AsyncIterable<Row>)[Symbol.asyncIterator](), length: known };
    if (Symbol.iterator in rows) return { source: (rows as Iterable<Row>)[Symbol.iterator](), length: known };
  }
  throw new ConfigurationError("The rows of bulk must be an array, or any other iterable or async iterable.");
}
