import { ConnectionError } from "../errors.ts";
import { eventIdOf } from "./fingerprint.ts";
import type { BulkOptions } from "./options.ts";
import type { RecordedRun } from "./recorded-run.ts";
import type { RowEnd } from "./row-call.ts";
import { RowKeys, type RowKey } from "./row-keys.ts";
import { RowRecord } from "./row-record.ts";
import type { RowSource } from "./rows.ts";

/** A row that was read. */
export interface ReadRow<Row> extends RowKey {
  readonly index: number;
  readonly item: Row;
  readonly record: RowRecord;
  /** The end that an earlier run recorded, if it still holds. */
  readonly recordedEnd: RowEnd<never> | undefined;
  /** For an event without an id; undefined without a checkpoint. */
  readonly eventId: string | undefined;
}

/** Reads the rows of a run one after the other, with their keys and records. */
export class RowIntake<Row> {
  readonly #source: RowSource<Row>;
  readonly #run: RecordedRun | undefined;
  readonly #keys: RowKeys<Row>;
  /** The ends of the rows under way, by the key of a further row with the same key. */
  readonly #ends = new Map<string, Promise<unknown>>();
  #count = 0;

  constructor(source: RowSource<Row>, options: BulkOptions<Row>, run: RecordedRun | undefined) {
    this.#source = source;
    this.#run = run;
    this.#keys = new RowKeys(options, run !== undefined);
  }

  /** Undefined after the last row. Rejects if the source or the checkpoint cannot be read. */
  async next(): Promise<ReadRow<Row> | undefined> {
    const next = await this.#source.next();
    if (next.done) return undefined;
    const index = this.#count++;
    const item = next.value;
    const key = await this.#keys.next(item, index);
    const run = key.problem ? undefined : this.#run;
    // The end of the row before with the same key decides whether this one is sent again.
    await this.#ends.get(key.key);
    const record = await RowRecord.read(run, key);
    const recordedEnd = recordedEndOf(record);
    const eventId = run && !recordedEnd ? await eventIdOf(run.id, key.key, record.version) : undefined;
    return { ...key, index, item, record, recordedEnd, eventId };
  }

  /** The next row with the same key waits for the end of this one. */
  async began({ nextKey }: ReadRow<Row>, end: Promise<unknown>): Promise<void> {
    this.#ends.set(nextKey, end);
    await end;
    this.#ends.delete(nextKey);
  }
}

/** A row in doubt stays in doubt even if it has changed. */
function recordedEndOf({ before, isUnchanged }: RowRecord): RowEnd<never> | undefined {
  if (before?.state === "in-doubt") return { status: "unknown", error: inDoubt() };
  if (!isUnchanged) return undefined;
  if (before?.state === "succeeded") return { status: "skipped" };
  return before?.state === "superseded" ? { status: "superseded" } : undefined;
}

function inDoubt(): ConnectionError {
  const message = "Not sent again: an earlier run may have carried it out.";
  return new ConnectionError({ message, outcome: "unknown", reason: "other" });
}
