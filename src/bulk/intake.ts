import { ConnectionError, isAudienceError } from "../errors.ts";
import type { OpenCheckpoint } from "./checkpoint.ts";
import { sha256 } from "./hash.ts";
import type { BulkOptions } from "./options.ts";
import type { RowEnd } from "./row-call.ts";
import { RowRecord } from "./row-record.ts";
import { RowCompanion } from "./row-companion.ts";
import { RowKeys } from "./row-keys.ts";

/** A row that was read: named, looked up, and ready for its call; or at its end already. */
export type ReadyRow = { readonly key: string } & (
  | { readonly companion: RowCompanion }
  /** `isNews` where this run found it out, and it is not on record from an earlier one. */
  | { readonly end: RowEnd<never>; readonly isNews: boolean }
);

/** Takes in the rows of a run, one after the other, so that their calls begin in the order of the rows. */
export class Intake<Row> {
  readonly #checkpoint: OpenCheckpoint | undefined;
  readonly #keys: RowKeys<Row>;
  readonly #stop: AbortSignal;
  readonly #onRecordFailure: (error: unknown) => void;

  constructor(
    options: BulkOptions<Row>,
    run: {
      checkpoint: OpenCheckpoint | undefined;
      stop: AbortSignal;
      onRecordFailure: (error: unknown) => void;
    },
  ) {
    this.#checkpoint = run.checkpoint;
    this.#keys = new RowKeys(options, run.checkpoint !== undefined);
    this.#stop = run.stop;
    this.#onRecordFailure = run.onRecordFailure;
  }

  /** Rejects where the checkpoint cannot be read. */
  async next(item: Row, index: number): Promise<ReadyRow> {
    const { key, problem } = await this.#keys.next(item, index);
    if (problem)
      return {
        key,
        end: { status: isInvalid(problem.error) ? "invalid" : "failed", ...problem },
        isNews: true,
      };
    const record = new RowRecord(this.#checkpoint, key, this.#onRecordFailure);
    const state = await record.read();
    if (state === "succeeded") return { key, end: { status: "skipped" }, isNews: false };
    if (state === "in-doubt") return { key, end: { status: "unknown", error: inDoubt() }, isNews: false };
    const eventId = this.#checkpoint && (await sha256(`${this.#checkpoint.id}\n${key}`));
    return { key, companion: new RowCompanion({ stop: this.#stop, record, eventId }) };
  }
}

function isInvalid(error: unknown): boolean {
  return isAudienceError(error) && error.code === "validation";
}

function inDoubt(): ConnectionError {
  const message = "Not sent again: an earlier run may have carried it out, and doing it twice is not safe.";
  return new ConnectionError({ message, outcome: "unknown", reason: "other" });
}
