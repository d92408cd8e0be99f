import { ConnectionError, isAudienceError } from "../errors.ts";
import type { OpenCheckpoint } from "./checkpoint.ts";
import { sha256 } from "./hash.ts";
import type { BulkOptions } from "./options.ts";
import type { RowEnd } from "./row-call.ts";
import { RowKeys } from "./row-keys.ts";
import { rowRecord } from "./row-record.ts";
import { RowCompanion } from "./row-companion.ts";

/** A row that was read: named, looked up, and ready for its call; or at its end already. */
export type ReadyRow = { readonly key: string } & (
  | { readonly companion: RowCompanion }
  /** `isNews` where this run found it out, and it is not on record from an earlier one. */
  | { readonly end: RowEnd<never>; readonly isNews: boolean }
);

/** Takes in a row; one after the other, so that their calls begin in the order of the rows. */
export type Intake<Row> = (item: Row, index: number) => Promise<ReadyRow>;

/** The intake of a run. It rejects where the checkpoint cannot be read. */
export function intake<Row>(
  options: BulkOptions<Row>,
  {
    checkpoint,
    stop,
    onRecordFailure,
  }: {
    checkpoint: OpenCheckpoint | undefined;
    stop: AbortSignal;
    onRecordFailure: (error: unknown) => void;
  },
): Intake<Row> {
  const keys = new RowKeys(options, checkpoint !== undefined);
  return async (item, index) => {
    const { key, problem } = await keys.next(item, index);
    if (problem) {
      const status = isInvalid(problem.error) ? "invalid" : "failed";
      return { key, end: { status, ...problem }, isNews: true };
    }
    const record = rowRecord(checkpoint, key, onRecordFailure);
    const state = await record.read();
    if (state === "succeeded") return { key, end: { status: "skipped" }, isNews: false };
    if (state === "in-doubt") return { key, end: { status: "unknown", error: inDoubt() }, isNews: false };
    const eventId = checkpoint && (await sha256(`${checkpoint.id}\n${key}`));
    return { key, companion: new RowCompanion({ stop, record, eventId }) };
  };
}

function isInvalid(error: unknown): boolean {
  return isAudienceError(error) && error.code === "validation";
}

function inDoubt(): ConnectionError {
  const message = "Not sent again: an earlier run may have carried it out.";
  return new ConnectionError({ message, outcome: "unknown", reason: "other" });
}
