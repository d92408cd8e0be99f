import { AudienceError, ConnectionError, RateLimitError, RateLimitWaitError, ValidationError } from "../errors.ts";
import { companionOption, type CallOptions, type Companion } from "../transport/call-options.ts";
import { wait } from "../transport/wait.ts";
import type { OpenCheckpoint } from "./checkpoint.ts";
import { sha256 } from "./hash.ts";
import type { BulkStatus } from "./result.ts";

/**
 * Hand this on to the row's call. It carries the run's signal, the last priority, and what makes the row safe over a
 * restart: an event without an id gets one made from checkpoint and key.
 */
export interface BulkRequest extends CallOptions {
  readonly signal: AbortSignal;
  readonly priority: number;
  /** The row's key. */
  readonly key: string;
}

/** A row's call. */
export type BulkCall<Row, Value> = (row: Row, request: BulkRequest) => PromiseLike<Value> | Value;

export interface RowEnd<Value> {
  readonly status: BulkStatus;
  readonly value?: Value;
  readonly error?: unknown;
}

export interface RowCall<Row, Value> {
  readonly row: Row;
  readonly key: string;
  readonly call: BulkCall<Row, Value>;
  /** Aborted, nothing is sent any more. */
  readonly stop: AbortSignal;
  readonly checkpoint: OpenCheckpoint | undefined;
  /** The checkpoint could not keep its record: the run must not go on. */
  readonly onRecordFailure: (error: unknown) => void;
}

const lastPriority = 9;
const shortestRefusalMs = 1_000;
const longestLookAwayMs = 60_000;

/** Carries out one row, unless its record says not to. Never rejects. */
export async function callRow<Row, Value>(row: RowCall<Row, Value>): Promise<RowEnd<Value>> {
  try {
    const state = await row.checkpoint?.stateOf(row.key);
    if (state === "succeeded") return { status: "skipped" };
    if (state === "in-doubt") return { status: "unknown", error: inDoubt() };
  } catch (error) {
    row.onRecordFailure(error);
    return { status: "failed", error };
  }
  const eventId = row.checkpoint && (await sha256(`${row.checkpoint.id}\n${row.key}`));
  const companion = new RowCompanion(row, eventId);
  const end = await untilPlaced(row, companion);
  await companion.recordEnd(end.status);
  return end;
}

/** A row that found no place did nothing: it goes back into the queue. */
async function untilPlaced<Row, Value>(
  { row, key, call, stop }: RowCall<Row, Value>,
  companion: RowCompanion,
): Promise<RowEnd<Value>> {
  for (;;) {
    try {
      return { status: "succeeded", value: await call(row, requestFor(key, stop, companion)) };
    } catch (error) {
      const refusedMs = refusalMs(error);
      if (refusedMs === undefined || !(await waited(refusedMs, stop))) return { status: statusOf(error), error };
    }
  }
}

function refusalMs(error: unknown): number | undefined {
  if (!(error instanceof AudienceError) || error.outcome === "unknown") return undefined;
  if (error instanceof RateLimitError) return Math.max(error.retryAfterMs ?? 0, shortestRefusalMs);
  if (!(error instanceof RateLimitWaitError) || error.waitMs === 0) return undefined;
  return Math.min(Math.max(error.waitMs, shortestRefusalMs), longestLookAwayMs);
}

/** Whether the wait came to its end. */
async function waited(delayMs: number, stop: AbortSignal): Promise<boolean> {
  if (stop.aborted) return false;
  return await wait(delayMs, stop).then(
    () => true,
    () => false,
  );
}

function statusOf(error: unknown): BulkStatus {
  if (error instanceof ValidationError) return "invalid";
  return error instanceof AudienceError && error.outcome === "unknown" ? "unknown" : "failed";
}

function inDoubt(): ConnectionError {
  const message =
    "Not sent again: an earlier run was killed while this row was in flight. It may have been carried out, and doing it twice is not safe.";
  return new ConnectionError({ message, outcome: "unknown", reason: "other" });
}

function requestFor(key: string, stop: AbortSignal, companion: Companion): BulkRequest {
  const request: Omit<BulkRequest, "key"> & { [companionOption]: Companion } = {
    signal: stop,
    priority: lastPriority,
    // A row waits as long as it takes: the client's own limits of patience are for calls that somebody waits for.
    maxWaitMs: Infinity,
    deadlineMs: Infinity,
    [companionOption]: companion,
  };
  // Not an option of a call, so not among those that a call looks through.
  return Object.defineProperty(request, "key", { value: key }) as typeof request & { key: string };
}

/** What goes along with a row's calls. */
class RowCompanion implements Companion {
  readonly stop: AbortSignal;
  readonly #row: Pick<RowCall<never, unknown>, "key" | "checkpoint" | "onRecordFailure">;
  readonly #eventId: string | undefined;
  #events = 0;
  #isInDoubt = false;

  constructor(row: Pick<RowCall<never, unknown>, "key" | "checkpoint" | "onRecordFailure" | "stop">, eventId: string | undefined) {
    this.stop = row.stop;
    this.#row = row;
    this.#eventId = eventId;
  }

  /** The first event of a row has the row's own id, the others that id and their number. */
  newEventId = (): string => {
    if (this.#eventId === undefined) return crypto.randomUUID();
    this.#events++;
    return this.#events === 1 ? this.#eventId : `${this.#eventId}-${this.#events}`;
  };

  beforeSend = async (isRepeatable: boolean): Promise<void> => {
    if (isRepeatable || this.#isInDoubt) return;
    await this.#record("in-doubt");
    this.#isInDoubt = true;
  };

  async recordEnd(status: BulkStatus): Promise<void> {
    if (status === "succeeded") await this.#record("succeeded").catch(() => undefined);
    else if (status !== "unknown" && this.#isInDoubt) await this.#record(undefined).catch(() => undefined);
  }

  async #record(state: "succeeded" | "in-doubt" | undefined): Promise<void> {
    const { checkpoint, key, onRecordFailure } = this.#row;
    try {
      await checkpoint?.record(key, state);
    } catch (error) {
      onRecordFailure(error);
      throw error;
    }
  }
}
