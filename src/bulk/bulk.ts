import type { OpenedClient } from "../open-client.ts";
import type { WriteValue } from "../write.ts";
import { type BulkCheck, checkRows, type PlannedBulkCheck } from "./bulk-check.ts";
import { type BulkFunction, type BulkOptions, type RowWrites, settleOptions } from "./bulk-options.ts";
import { BulkRun } from "./bulk-run.ts";
import type { Checkpoint } from "./checkpoint.ts";
import { type BulkRows, Rows } from "./rows.ts";

/** Sends many rows, a few at a time, over days and through crashes. */
export interface Bulk {
  /**
   * Sends the writes of each row, and yields a result for each. The run starts when it is iterated or awaited.
   *
   * A refusal stands: a row may write one, and never lifts one. One bad row never ends a run; an error that every other row
   * would meet does (`stopWhen`).
   *
   * ```ts
   * const run = audience.bulk(rows, (row) => write.v1.contactGroups.addContact(listId, row));
   * for await (const { index, status, error } of run) if (status !== "succeeded") console.log(index, status, error);
   * ```
   *
   * @throws ConfigurationError if an option is wrong.
   */
  <Row, const Writes extends RowWrites>(
    rows: BulkRows<Row>,
    toWrites: BulkFunction<Row, Writes>,
    options?: BulkOptions<Row>,
  ): BulkRun<Row, WriteValue<Writes>>;
  /** Checks rows, and sends nothing: see `BulkChecks`. */
  readonly check: BulkChecks;
}

/** `audience.bulk.check`. */
export interface BulkChecks {
  /**
   * Tells with a checkpoint also what a run with these options would do. It reads the checkpoint, leaves it as it is, and ignores
   * what only a run uses, such as `signal`.
   *
   * ```ts
   * const tonight = await audience.bulk.check(rows, toWrites, { key: (row) => row.id, checkpoint });
   * console.log(`${tonight.new} new, ${tonight.changed} changed, ${tonight.unchanged} unchanged`);
   * ```
   *
   * @throws ConfigurationError if an option is wrong, or the checkpoint is damaged, or of another organization.
   */
  <Row>(
    rows: BulkRows<Row>,
    toWrites: BulkFunction<Row, RowWrites>,
    options: BulkOptions<Row> & { checkpoint: Checkpoint },
  ): Promise<PlannedBulkCheck>;
  /**
   * Validates the writes of each row as their calls do, and sends nothing.
   *
   * ```ts
   * const { valid, invalid, estimateMs } = await audience.bulk.check(rows, toWrites);
   * ```
   */
  <Row>(
    rows: BulkRows<Row>,
    toWrites: BulkFunction<Row, RowWrites>,
    options?: BulkOptions<Row>,
  ): Promise<BulkCheck>;
}

export function createBulk(opened: OpenedClient): Bulk {
  const bulk = <Row, Writes extends RowWrites>(
    rows: BulkRows<Row>,
    toWrites: BulkFunction<Row, Writes>,
    options?: BulkOptions<Row>,
  ) => {
    const settings = settleOptions<Row>(opened, "bulk", toWrites, options);
    return new BulkRun<Row, WriteValue<Writes>>(new Rows<Row>(rows, toWrites, settings), settings);
  };
  const check = async <Row>(
    rows: BulkRows<Row>,
    toWrites: BulkFunction<Row, RowWrites>,
    options?: BulkOptions<Row>,
  ): Promise<PlannedBulkCheck> => {
    const settings = settleOptions<Row>(opened, "bulk.check", toWrites, options);
    // Safe: without a checkpoint nobody is promised the counts of a plan.
    return (await checkRows(rows, toWrites, settings)) as PlannedBulkCheck;
  };
  return Object.assign(bulk, { check });
}
