import * as z from "zod";
import { hasMethods } from "../schema/kind-of.ts";
import { optionTypes, optionThat, parseOptions } from "../schema/option.ts";
import type { Checkpoint } from "./checkpoint.ts";
import type { BulkProgress } from "./result.ts";

/** Options of `audience.bulk`. */
export interface BulkOptions<Row> {
  /** Rows under way at a time. Default 10. */
  concurrency?: number | undefined;
  /** Aborted, the run ends with an `AbortError` as soon as what is in flight has ended. */
  signal?: AbortSignal | undefined;
  /** How many rows there are, where the source does not say: for `onProgress`. */
  total?: number | undefined;
  /**
   * Names a row over restarts and over runs, as its e-mail address does. With a checkpoint, a later run then sends what
   * is new or has changed. Default: its index; with a checkpoint, a hash of the row, and the checkpoint serves one run.
   */
  key?: ((row: Row, index: number) => string) | undefined;
  /** What of a row counts as a change, with a checkpoint: a string or any JSON value. Default: the whole row. */
  fingerprint?: ((row: Row) => unknown) | undefined;
  /**
   * Whether a row is still what the service should hold, such as a look at when the contact was last changed elsewhere.
   * Asked right before each sending. Where it says no the row is `superseded`; what it throws is the row's error.
   */
  isCurrent?: ((row: Row) => boolean | Promise<boolean>) | undefined;
  /** Keeps track of the rows, so that a run that was killed goes on where it was. */
  checkpoint?: Checkpoint | undefined;
  /** Called after each row. What it throws changes nothing. */
  onProgress?: ((progress: BulkProgress) => void) | undefined;
  /**
   * Whether an error is one that every other row would meet too, and so ends the run. Default: `AuthenticationError`,
   * `PermissionError`, `ConfigurationError`, `ClientClosedError`, and a `NotFoundError` of `addContact`.
   */
  stopWhen?: ((error: unknown) => boolean) | undefined;
}

const bulkOptionsSchema = z
  .strictObject({
    concurrency: optionTypes.positiveCount,
    signal: optionTypes.signal,
    total: optionTypes.count,
    key: optionTypes.function,
    fingerprint: optionTypes.function,
    isCurrent: optionTypes.function,
    checkpoint: optionThat<Checkpoint>("a Checkpoint, as fileCheckpoint(path) gives", (value) =>
      hasMethods(value, "open"),
    ),
    onProgress: optionTypes.function,
    stopWhen: optionTypes.function,
  })
  .partial();

/** Throws a `ConfigurationError` that names the option. */
export function parseBulkOptions<Row>(options: unknown): BulkOptions<Row> {
  // Safe: functions are typed by their caller, and the rest is what the schema says.
  return parseOptions(
    bulkOptionsSchema,
    options === undefined ? {} : options,
    "The options of bulk",
  ) as BulkOptions<Row>;
}
