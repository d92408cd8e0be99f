import { ConnectionError, isAudienceError } from "../errors.ts";
import type { ConsentLog } from "./consent-log.ts";
import { eventIdOf } from "./fingerprint.ts";
import type { BulkOptions } from "./options.ts";
import type { RecordedRun } from "./recorded-run.ts";
import type { RowEnd } from "./row-call.ts";
import { RowContext } from "./row-context.ts";
import { RowKeys } from "./row-keys.ts";
import { RowRecord } from "./row-record.ts";

/** A row with its key and its record: ready for its call, or already ended. */
export type ReadyRow = { readonly key: string } & (
  | { readonly context: RowContext }
  /** `isNews` is false for an end that an earlier run recorded. */
  | { readonly end: RowEnd<never>; readonly isNews: boolean }
);

/** Prepares a row; one after the other, so that the calls begin in the order of the rows. */
export type Intake<Row> = (item: Row, index: number) => Promise<ReadyRow>;

/** The intake of a run. It rejects if the checkpoint cannot be read. */
export function intake<Row>(
  options: BulkOptions<Row>,
  {
    recorded,
    consents,
    stop,
    onLateCall,
  }: {
    recorded: RecordedRun | undefined;
    consents: ConsentLog;
    stop: AbortSignal;
    /** Called for a call that a row makes after its function has ended. */
    onLateCall: () => void;
  },
): Intake<Row> {
  const keys = new RowKeys(options, recorded !== undefined);
  /** The rows in progress, by the key of a further row with the same key. */
  const underWay = new Map<string, RowContext>();
  const { isCurrent } = options;
  return async (item, index) => {
    const { problem, ...row } = await keys.next(item, index);
    const { key } = row;
    if (problem) {
      const status = isInvalid(problem.error) ? "invalid" : "failed";
      return { key, end: { status, ...problem }, isNews: true };
    }
    // Its end decides whether this row is sent again.
    await underWay.get(key)?.ended;
    const record = await RowRecord.read(recorded, row);
    const end = endOf(record);
    if (end) return { key, end, isNews: false };
    const eventId = recorded && (await eventIdOf(recorded.id, key, record.version));
    const context = new RowContext({
      stop,
      run: consents,
      record,
      eventId,
      isCurrent: () => (isCurrent ? isCurrent(item) : true),
      onLateCall,
    });
    underWay.set(row.nextKey, context);
    void context.ended.then(() => underWay.delete(row.nextKey));
    return { key, context };
  };
}

/** The end that an earlier run recorded, if it still holds. A row in doubt stays in doubt even if it has changed. */
function endOf({ before, isUnchanged }: RowRecord): RowEnd<never> | undefined {
  if (before?.state === "in-doubt") return { status: "unknown", error: inDoubt() };
  if (!isUnchanged) return undefined;
  if (before?.state === "succeeded") return { status: "skipped" };
  return before?.state === "superseded" ? { status: "superseded" } : undefined;
}

function isInvalid(error: unknown): boolean {
  return isAudienceError(error) && error.code === "validation";
}

function inDoubt(): ConnectionError {
  const message = "Not sent again: an earlier run may have carried it out.";
  return new ConnectionError({ message, outcome: "unknown", reason: "other" });
}
