import * as z from "zod";
import { ConfigurationError, isAudienceError } from "../errors.ts";
import {
  ignoreRejection,
  optionThat,
  optionTypes,
  parseOptions,
  type Given,
} from "../schema/parse-options.ts";
import { hasMethods, isObject } from "../schema/predicates.ts";
import type { CallOptions } from "../transport/call-options.ts";
import { isWaitTooLong } from "../transport/interceptors/retry-plan.ts";
import type { Checkpoint } from "./checkpoint.ts";
import type { BulkProgress } from "./result.ts";

/**
 * Pass this to the row's calls. It contains the run's signal, the last priority, and the state that makes the row safe
 * over a restart: an event without an id gets one from checkpoint, key and the row's version. These ids tell several
 * events of one name apart by their order: give such events ids of your own. It removes the client's `deadlineMs` and
 * `maxWaitMs`, so that a row waits as long as necessary. It may be spread: `{ ...request, timeoutMs }`.
 */
export interface BulkRequest extends CallOptions {
  readonly signal: AbortSignal;
  readonly priority: number;
  /** The row's key. A spread omits it, because it is not an option of a call. */
  readonly key: string;
}

/** Makes a row's call, or several in sequence. It must return or await them. */
export type BulkCall<Row, Result extends PromiseLike<unknown> = PromiseLike<unknown>> = (
  row: Row,
  request: BulkRequest,
) => Result;

/** Of the calls of a row: they go last, and leave room for other calls. */
export const rowPriority = 9;

/** Options of `audience.bulk`. */
export interface BulkOptions<Row> {
  /** The number of rows in progress at a time. Default 10. */
  concurrency?: number | undefined;
  /** Ends the run with an `AbortError` when it is aborted; requests in flight end first. */
  signal?: AbortSignal | undefined;
  /** The number of rows for `onProgress`. Default: the source's `length` or `size`. */
  total?: number | undefined;
  /**
   * Identifies a row over restarts and runs, such as its e-mail address. Rows with one key are sent one after the other.
   * With a checkpoint, a later run then sends new and changed rows. Default: the index; with a checkpoint, a hash of the
   * row, and the checkpoint serves one run.
   */
  key?: ((row: Row, index: number) => string) | undefined;
  /** With a checkpoint: the part of a row that counts as a change, as a string or JSON value. Default: the whole row. */
  fingerprint?: ((row: Row) => unknown) | undefined;
  /**
   * Whether a row is still current. The run knows only the consents that this client and its views write meanwhile: look
   * up here what other clients and processes have written, and what the person has done at the service. Called right
   * before each attempt. If it takes longer than a quarter of a second, the row may have to wait for the rate limit
   * again: after more than two seconds it is called again, three times at most. If it returns false, the row is
   * `superseded`; if it throws, that is the row's error.
   */
  isCurrent?: ((row: Row) => boolean | Promise<boolean>) | undefined;
  /** Records the rows, so that a run that was killed continues where it was. */
  checkpoint?: Checkpoint | undefined;
  /**
   * With a checkpoint: a name of your own for the organization, such as `"acme"`. A checkpoint belongs to one organization
   * of one service, by its base URLs and this name, which survives a rotation of keys. Default: by its base URLs and keys.
   * Given later, it takes over a checkpoint that was recorded with a key.
   */
  organization?: string | undefined;
  /** Called after each row. Its errors are ignored. */
  onProgress?: ((progress: BulkProgress) => void) | undefined;
  /**
   * Whether an error ends the run, because every other row would meet it too. Default: `AuthenticationError`,
   * `PermissionError`, `ConfigurationError`, `ClientClosedError`, and a `NotFoundError` of `addContact`, also as a custom
   * request.
   */
  stopWhen?: ((error: unknown) => boolean) | undefined;
}

const bulkOptionsSchema = z
  .strictObject({
    signal: optionTypes.signal,
    total: optionTypes.count,
    key: optionTypes.function,
    fingerprint: optionTypes.function,
    checkpoint: optionThat<Checkpoint>("a Checkpoint, such as fileCheckpoint(path)", (value) =>
      hasMethods(value, "open"),
    ),
    organization: optionTypes.string,
    onProgress: optionTypes.function,
  })
  .partial()
  .extend({
    concurrency: optionTypes.positiveCount.default(10),
    isCurrent: optionTypes.function.default(() => () => true),
    stopWhen: optionTypes.function.default(() => endsRunByDefault),
  });

/** The options of a run, with their defaults. */
export type BulkSettings<Row> = BulkOptions<Row> &
  Required<Given<Pick<BulkOptions<Row>, "concurrency" | "isCurrent" | "stopWhen">>>;

/** Parses the options of a run. Throws a `ConfigurationError` that names the option. */
export function parseBulkOptions<Row>(options: unknown): BulkSettings<Row> {
  const parsed = parseOptions(bulkOptionsSchema, options === undefined ? {} : options, "The options of bulk");
  // Safe: functions are typed by the caller; the schema has checked the rest.
  return parsed as BulkSettings<Row>;
}

/** Whether the service asks to wait for more than an hour: every other row would have to, too. */
export function isRefusedForLong(error: unknown): boolean {
  return isAudienceError(error) && error.code === "rate_limit" && isWaitTooLong(error);
}

const stopCodes: readonly string[] = ["authentication", "permission", "configuration", "closed"];

/** Whether the error ends the run, by `stopWhen` or the default. A `Retry-After` of over an hour always does. */
export function endsRun(error: unknown, stopWhen: (error: unknown) => unknown): boolean {
  if (isRefusedForLong(error)) return true;
  const ends = stopWhen(error);
  ignoreRejection(ends);
  // A promise would count as true.
  if (isObject(ends)) throw new ConfigurationError("stopWhen must return a boolean.");
  return Boolean(ends);
}

function endsRunByDefault(error: unknown): boolean {
  if (!isAudienceError(error)) return false;
  if (error.code !== "not_found") return stopCodes.includes(error.code);
  // On a wrong list, adding would create a contact for each row.
  const { request, outcome } = error;
  if (request?.operation === "v1.contactGroups.addContact") return true;
  // The 404 of no other custom request leaves its outcome open, unless an earlier attempt did.
  return request?.operation === "v1.request" && request.attempts === 1 && outcome === "unknown";
}
