import * as z from "zod";
import { ConfigurationError, isAudienceError } from "../errors.ts";
import type { OpenedClient } from "../open-client.ts";
import { type Target, targetOf } from "../organization.ts";
import { optionThat, optionTypes, parseOption, parseOptions, type Given } from "../schema/parse-options.ts";
import { isWaitTooLong } from "../transport/retry-plan.ts";
import type { Profile } from "../v1/profile.ts";
import { ignoreRejection } from "../values/in-words.ts";
import { hasMethods, isObject, withoutPrototype } from "../values/predicates.ts";
import type { Write } from "../write.ts";
import type { Checkpoint } from "./checkpoint.ts";
import { type BulkProgress, hasCode } from "./result.ts";

/**
 * Gives the writes of a row: one, several in an array, or none (`[]`), or a promise of them. It may be called more than once
 * for a row, and sends nothing.
 */
export type BulkFunction<Row, Writes extends RowWrites> = (
  row: Row,
  index: number,
) => Writes | LaterWrites<Writes>;

/** A promise of writes. The type of `withResponse`, which only the promise of a call has, is what the compiler then says. */
export interface LaterWrites<Writes extends RowWrites> extends PromiseLike<Writes> {
  /** Only the promise of a call has `withResponse`, and it is no promise of writes. */
  withResponse?: "return write.v1… (a value), not a call";
}

/** What the function of a row gives. */
export type RowWrites = Write | readonly Write[];

/** The options of a row's calls: they go last, and wait long; the client's own limits are for interactive calls (D53). */
export const rowCallOptions = { priority: 9, maxWaitMs: Infinity, deadlineMs: Infinity };

/** What the service, or a snapshot of it, shows of a contact. */
export type ShownContact = { readonly id: string } & Readonly<
  Pick<Profile["attributes"], "email" | "phone" | "email_opt_in" | "phone_opt_in" | "is_suppressed">
>;

/** A snapshot of the service, as bulk takes it: `readSnapshot` and `openSnapshot` of `audience-sdk/snapshot` give one. */
export interface ConsentSnapshot {
  /** When the snapshot was begun. */
  readonly readAt: Date;
  /** @internal Throws a `ConfigurationError` if it is over a day old, of another target, or no contact of it shows a consent. */
  checkFor(target: Target, signal: AbortSignal): Promise<void>;
  /** @internal The contacts that have one of these keys. */
  shownOf(keys: readonly string[]): readonly ShownContact[];
}

/** Options of `audience.bulk`. The client's `maxWaitMs` and `deadlineMs` do not count for rows: a row waits as long as it takes. */
export interface BulkOptions<Row> {
  /** The number of rows in progress at a time. Default 10. */
  concurrency?: number | undefined;
  /** Ends the run with an `AbortError` when it is aborted; requests in flight end first. */
  signal?: AbortSignal | undefined;
  /** The number of rows for `onProgress`. Default: the source's `length` or `size`. */
  total?: number | undefined;
  /**
   * Identifies a row over restarts and runs, such as its e-mail address. Rows with one key are sent one after the other.
   * With a checkpoint, a later run then sends new and changed rows. Without it a checkpoint serves one run.
   */
  key?: ((row: Row, index: number) => string) | undefined;
  /**
   * With a checkpoint: the part of a row that counts as a change, as a string or JSON value; the consents of its writes count
   * besides. Default: the writes.
   */
  fingerprint?: ((row: Row) => unknown) | undefined;
  /**
   * Whether a row is still current, by what your own database knows. Asked before each attempt, so that its answer is at
   * most a second old when the row is sent. If it returns false, the row is `superseded`; if it throws, or takes over a
   * second three times, the row fails.
   */
  isCurrent?: ((row: Row) => boolean | Promise<boolean>) | undefined;
  /**
   * Whether the person of a row is looked up before the row is sent (one call more), by the id that the `snapshot` or an
   * earlier night gave. False leaves looks out, but for contacts that the snapshot shows as refused. Default: true.
   */
  checkConsent?: boolean | undefined;
  /** A snapshot of the service that was begun less than a day ago (`audience-sdk/snapshot`): by its ids rows are looked up. */
  snapshot?: ConsentSnapshot | undefined;
  /** Records the rows, so that a run that was killed continues where it was. */
  checkpoint?: Checkpoint | undefined;
  /**
   * With a checkpoint: a name of your own for the organization, such as `"acme"`, of at most 100 characters. It survives a
   * rotation of keys; given later, it takes over a checkpoint that was recorded with one. Default: the keys identify it.
   */
  organization?: string | undefined;
  /** Called after each row. An error of it is one line of the logger, and changes nothing. */
  onProgress?: ((progress: BulkProgress) => void) | undefined;
  /**
   * Whether an error ends the run, because every other row would meet it too. Default: `AuthenticationError`,
   * `PermissionError`, `ConfigurationError`, `ClientClosedError`, and a `NotFoundError` of `addContact`, also as a custom
   * request.
   */
  stopWhen?: ((error: unknown) => boolean) | undefined;
}

const bulkOptionsSchema = z.strictObject({
  key: optionTypes.function.optional(),
  fingerprint: optionTypes.function.optional(),
  organization: optionTypes.string.optional(),
  checkConsent: optionTypes.boolean.default(true),
  concurrency: optionTypes.positiveCount.default(10),
  signal: optionTypes.signal.optional(),
  total: optionTypes.count.optional(),
  isCurrent: optionTypes.function.optional(),
  snapshot: optionThat<ConsentSnapshot>("a snapshot, such as await openSnapshot(path)", (value) =>
    hasMethods(value, "checkFor", "shownOf"),
  ).optional(),
  checkpoint: optionThat<Checkpoint>("a Checkpoint, such as fileCheckpoint(path)", (value) =>
    hasMethods(value, "open"),
  ).optional(),
  onProgress: optionTypes.function.optional(),
  stopWhen: optionTypes.function.default(() => endsRunByDefault),
});

export type BulkSettings<Row> = BulkOptions<Row> &
  Required<Given<Pick<BulkOptions<Row>, "concurrency" | "checkConsent" | "stopWhen">>> & {
    readonly opened: OpenedClient;
    readonly target: Target;
    /** The time of so many more calls; undefined without a rate limiter. */
    readonly estimateMs: ((calls: number) => number) | undefined;
  };

export function settleOptions<Row>(
  opened: OpenedClient,
  method: "bulk" | "bulk.check",
  toWrites: unknown,
  given: unknown = {},
): BulkSettings<Row> {
  parseOption(optionTypes.function, toWrites, `The function of ${method}`);
  // Safe: functions are typed by the caller; the schema has checked the rest.
  const options = parseOptions(bulkOptionsSchema, given, `The options of ${method}`) as BulkSettings<Row>;
  const limiter = opened.transport.client.limiter.current;
  const estimateMs =
    limiter && ((calls: number) => limiter.estimateMs(calls, { priority: rowCallOptions.priority }));
  return withoutPrototype({ ...options, opened, target: targetOf(options.organization, opened), estimateMs });
}

/** Whether the error ends the run, by `stopWhen` or the default. A `Retry-After` of over an hour always does. */
export function endsRun(error: unknown, stopWhen: (error: unknown) => unknown): boolean {
  if (isAudienceError(error) && error.code === "rate_limit" && isWaitTooLong(error)) return true;
  const isStop = stopWhen(error);
  ignoreRejection(isStop);
  // A promise of `stopWhen` would count as true. Rows may have been carried out.
  if (isObject(isStop)) throw new ConfigurationError("stopWhen must return a boolean.", "unknown");
  return Boolean(isStop);
}

/** The default of `stopWhen`. Adding to a wrong list may create a contact for each row. */
function endsRunByDefault(error: unknown): boolean {
  if (hasCode(error, "authentication", "permission", "configuration", "closed")) return true;
  if (!isAudienceError(error) || error.code !== "not_found") return false;
  const { request, outcome } = error;
  // `addContact` is the only custom request whose 404 leaves its outcome open; so may an attempt before.
  const isByRequest = request?.operation === "v1.request" && outcome === "unknown" && request.attempts === 1;
  return isByRequest || request?.operation === "v1.contactGroups.addContact";
}
