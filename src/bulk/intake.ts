import { ConnectionError, isAudienceError } from "../errors.ts";
import type { ConsentLog } from "./consent-log.ts";
import { eventIdOf } from "./fingerprint.ts";
import type { BulkOptions } from "./options.ts";
import type { RecordedRun } from "./recorded-run.ts";
import type { RowEnd } from "./row-call.ts";
import { RowCompanion } from "./row-companion.ts";
import { RowKeys } from "./row-keys.ts";
import { RowRecord } from "./row-record.ts";

/** A row that was read: named, looked up, and ready for its call; or at its end already. */
export type ReadyRow = { readonly key: string } & (
  | { readonly companion: RowCompanion }
  /** `isNews` where this run found it out, and it is not recorded from an earlier one. */
  | { readonly end: RowEnd<never>; readonly isNews: boolean }
);

/** Takes in a row; one after the other, so that their calls begin in the order of the rows. */
export type Intake<Row> = (item: Row, index: number) => Promise<ReadyRow>;

/** The intake of a run. It rejects where the checkpoint cannot be read. */
export function intake<Row>(
  options: BulkOptions<Row>,
  {
    recorded,
    consents,
    stop,
  }: { recorded: RecordedRun | undefined; consents: ConsentLog; stop: AbortSignal },
): Intake<Row> {
  const keys = new RowKeys(options, recorded !== undefined);
  const { isCurrent } = options;
  return async (item, index) => {
    const { key, fingerprint, problem } = await keys.next(item, index);
    if (problem) {
      const status = isInvalid(problem.error) ? "invalid" : "failed";
      return { key, end: { status, ...problem }, isNews: true };
    }
    const record = await RowRecord.read(recorded, { key, fingerprint });
    const end = endOf(record);
    if (end) return { key, end, isNews: false };
    const eventId = recorded && (await eventIdOf(recorded.id, key, record.version));
    const companion = new RowCompanion({
      stop,
      run: consents,
      record,
      eventId,
      isCurrent: () => (isCurrent ? isCurrent(item) : true),
    });
    return { key, companion };
  };
}

/** The end that an earlier run recorded of a row, where it still holds. A doubt holds whatever the row says now. */
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
