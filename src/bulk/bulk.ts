import { optionTypes, parseOption } from "../schema/option.ts";
import { checkRows, type BulkCheck, type CheckResult } from "./check.ts";
import { parseBulkOptions, type BulkOptions } from "./options.ts";
import type { BulkCall } from "./row-call.ts";
import { RowPump, type BulkClient } from "./row-pump.ts";
import { RowSource, type BulkRows } from "./rows.ts";
import { BulkRun } from "./run.ts";

export type { BulkRows } from "./rows.ts";

/** Many rows, a few at a time, over days and through crashes. */
export interface Bulk {
  /**
   * Carries out a call for each row, and says of each how it ended. Starts when it is iterated or awaited.
   *
   * One bad row never ends a run; what every other row would meet too does (`stopWhen`). The function returns a promise;
   * `request` must be handed on.
   *
   * ```ts
   * const run = audience.bulk(rows, (row, request) => audience.v1.contactGroups.addContact(listId, row, request));
   * for await (const { index, status, error } of run) if (status !== "succeeded") console.log(index, status, error);
   * console.log(await run);
   * ```
   *
   * @throws ConfigurationError where an option is wrong.
   */
  <Row, Result extends PromiseLike<unknown>>(
    rows: BulkRows<Row>,
    call: BulkCall<Row, Result>,
    options?: BulkOptions<Row>,
  ): BulkRun<Row, Awaited<Result>>;
  /**
   * Checks each row with a schema. Sends nothing.
   *
   * ```ts
   * const { valid, invalid, estimateMs } = await audience.bulk.check(rows, (row) => v1ContactSchema.safeParse(row));
   * ```
   */
  check<Row>(rows: BulkRows<Row>, check: (row: Row, index: number) => CheckResult): Promise<BulkCheck>;
}

export function createBulk(client: BulkClient): Bulk {
  const bulk = <Row, Result extends PromiseLike<unknown>>(
    rows: BulkRows<Row>,
    call: BulkCall<Row, Result>,
    options?: BulkOptions<Row>,
  ) => {
    parseOption(optionTypes.function, call, "The call of bulk");
    // Safe: what a Result resolves to is what awaiting it gives.
    const awaited = call as BulkCall<Row, PromiseLike<Awaited<Result>>>;
    return new BulkRun(
      new RowPump(new RowSource<Row>(rows), awaited, parseBulkOptions<Row>(options), client),
    );
  };
  return Object.assign(bulk, {
    check: <Row>(rows: BulkRows<Row>, check: (row: Row, index: number) => CheckResult) =>
      checkRows(rows, check, client.estimateMs),
  });
}
