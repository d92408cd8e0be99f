import { isAudienceError, type AbortError, type ValidationError } from "../errors.ts";
import type { Profile } from "../v1/profile.ts";
import type { Kept } from "./refusals.ts";

/** The number of rows by their end. */
export interface BulkCounts {
  /** The service carried out all writes of the row. */
  succeeded: number;
  /** Not sent: the row breaks a documented rule; `error` is a `ValidationError`. */
  invalid: number;
  /** Not carried out: see the error's `outcome`. */
  failed: number;
  /** Possibly carried out. The next run sends it again, if its writes may be repeated. */
  unknown: number;
  /** Not sent: the checkpoint has recorded its success and the row has not changed since, or the row has no write. */
  skipped: number;
  /**
   * Not sent, as a refusal is known that the row cannot say, or as it is no longer current: `reason` says how that is known.
   * The next run judges it afresh.
   */
  superseded: number;
}

/** How one row ended; `BulkCounts` says what each means. */
export type BulkStatus = keyof BulkCounts;

/**
 * How it is known that a row is superseded: `"run"`: an earlier row of the run refuses. `"process"`: another call of this
 * process does. `"service"`: the service shows a refusal, or the contact no longer. `"snapshot"`: only a snapshot shows it.
 * `"not-current"`: `isCurrent` returned false.
 */
export type SupersededReason = "run" | "process" | "service" | "snapshot" | "not-current";

/**
 * The result of one row, by its status; every member may be destructured. Results come in the order in which rows end.
 *
 * ```ts
 * for await (const { index, status, kept, error } of run) if (status !== "succeeded") console.log(index, status, error);
 * ```
 */
export type BulkResult<Row, Value> = BulkItem<Row> & RowEnd<Value>;

/** The row that a result is of. */
export interface BulkItem<Row> {
  /** The row's index in the source, from 0. */
  readonly index: number;
  /** The row's key; without one its index. */
  readonly key: string;
  /** The row. */
  readonly item: Row;
}

type Detail = "value" | "kept" | "error" | "reason" | "service" | "formerId";

/** An end of a row has these details and no other: every member may be destructured. */
type Only<Own extends Detail> = { readonly [Other in Exclude<Detail, Own>]?: undefined };

/** Not carried out, or possibly: `error` is of this run, of this package or of your own function. */
type FailedEnd<Status> = Only<"error"> & { readonly status: Status; readonly error: unknown };

/** The end of a row. */
export type RowEnd<Value> =
  | SucceededEnd<Value>
  /** `kept`: as the run told that sent the row. */
  | (Only<"kept"> & { readonly status: "skipped"; readonly kept?: Kept | undefined })
  | (Only<"error"> & { readonly status: "invalid"; readonly error: ValidationError })
  | FailedEnd<"failed">
  | FailedEnd<"unknown">
  | SupersededEnd;

/** The end of a row that was carried out. */
export type SucceededEnd<Value> = Only<"value" | "kept" | "service" | "formerId"> & {
  /** The service carried out all writes of the row. */
  readonly status: "succeeded";
  /** The value of the row's call; of several writes an array. */
  readonly value: Value;
  /** The channels in which a refusal was sent in place of the row's word, and how each was known. */
  readonly kept?: Kept | undefined;
  /** Of a refusal that the service showed: the contact as it was shown. */
  readonly service?: Profile | undefined;
  /** The row names another contact than under this key before: the id of that one, which is left as it is. */
  readonly formerId?: string | undefined;
};

/** The end of a superseded row. */
export type SupersededEnd = Only<"error" | "reason" | "service"> & {
  /** Not sent, as a refusal is known that the row cannot say, or as it is no longer current. */
  readonly status: "superseded";
  /** How that is known. */
  readonly reason: SupersededReason;
  /** Of `"service"`: the contact as the service shows it; absent if it has none. */
  readonly service?: Profile | undefined;
  /** Names the opt-outs of the row that were not sent. Its `outcome` is that of all writes of the row. */
  readonly error: AbortError;
};

/** The summary of a run. */
export interface BulkSummary extends Readonly<BulkCounts> {
  /** The number of rows that ended. */
  readonly total: number;
  /** The number of results with `kept`. */
  readonly kept: number;
  /** The duration of the run, in milliseconds. */
  readonly durationMs: number;
}

/** The progress of a run. */
export interface BulkProgress extends Readonly<BulkCounts> {
  /** The number of rows that have ended, skipped and superseded rows included. */
  readonly done: number;
  /** The number of all rows, if the source's length is known or `total` was given. */
  readonly total?: number;
  /** The number of results with `kept`. */
  readonly kept: number;
  /** Rows per minute over the last minute, without skipped and superseded rows. */
  readonly ratePerMinute: number;
  /** The time for the rows still to be sent, in milliseconds, by the calls of a row so far; present if `total` is known and the calls are limited. */
  readonly etaMs?: number;
}

export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return isAudienceError(error) && codes.includes(error.code);
}

/** Whether a row is invalid. By the code of its error, as the class may be that of the other module format. */
export function isInvalid(error: unknown): error is ValidationError {
  return hasCode(error, "validation");
}

const minuteMs = 60_000;

export class ProgressCounter {
  rowsBegun = 0;
  /** The number of calls that rows have made, looks included. */
  calls = 0;
  done = 0;
  /** The number of rows that may have subscribed somebody of whom nothing was known. */
  unknownPeople = 0;
  readonly #counts = { succeeded: 0, invalid: 0, failed: 0, unknown: 0, skipped: 0, superseded: 0, kept: 0 };
  readonly #recentRowEnds: number[] = [];
  readonly times: { began?: number; ended?: number } = {};

  add({ status, kept }: RowEnd<unknown>): void {
    this.done++;
    this.#counts[status]++;
    if (kept) this.#counts.kept++;
    const now = performance.now();
    if (status !== "skipped" && status !== "superseded") this.#recentRowEnds.push(now);
    while (this.#recentRowEnds[0]! <= now - minuteMs) this.#recentRowEnds.shift();
  }

  /** The progress of the run; `estimateMs` gives the time of so many more calls. */
  progress(total: number | undefined, estimateMs?: (calls: number) => number): BulkProgress {
    const { done, rowsBegun } = this;
    const measuredMs = Math.min(Math.max(this.#durationMs, 1), minuteMs);
    const ratePerMinute = Math.round((this.#recentRowEnds.length / measuredMs) * minuteMs);
    const progress = { done, ...this.#counts, ratePerMinute };
    if (total === undefined) return progress;
    // Rows that are skipped make no call, and a row that is looked up makes two.
    const callsPerRow = this.calls / rowsBegun;
    // The limiter already counts the calls under way; the estimate is for the rows after them.
    const etaMs = estimateMs?.(Math.ceil(Math.max(0, total - rowsBegun) * callsPerRow));
    return { ...progress, total, ...(etaMs === undefined ? {} : { etaMs }) };
  }

  summary(): BulkSummary {
    return { total: this.done, ...this.#counts, durationMs: this.#durationMs };
  }

  get #durationMs(): number {
    const { began, ended = performance.now() } = this.times;
    return began === undefined ? 0 : ended - began;
  }
}

/** The results of a run, which the caller takes one after the other. */
export class ResultQueue<Result> {
  readonly #results: { readonly result: Result; readonly release: () => void }[] = [];
  #wakeReader = (): void => undefined;
  #isOver = false;

  /** Resolves when the caller has finished with the result, or takes no more. */
  async give(result: Result): Promise<void> {
    if (this.#isOver) return;
    await new Promise<void>((release) => {
      this.#results.push({ result, release });
      this.#wakeReader();
    });
  }

  async *untilOver(): AsyncGenerator<Result, void, undefined> {
    for (;;) {
      const [nextResult] = this.#results;
      if (nextResult) {
        yield nextResult.result;
        this.#results.shift();
        nextResult.release();
      } else if (this.#isOver) return;
      else await new Promise<void>((resolve) => (this.#wakeReader = resolve));
    }
  }

  /** The run is over, or the caller takes no more results. */
  end(): void {
    this.#isOver = true;
    for (const { release } of this.#results) release();
    this.#wakeReader();
  }
}
