import { optionTypes, parseOption } from "../schema/option.ts";
import { checkRows, type BulkCheck, type CheckResult } from "./check.ts";
import { parseBulkOptions, type BulkClient, type BulkOptions } from "./options.ts";
import type { BulkCall } from "./row-call.ts";
import { RowRunner } from "./row-runner.ts";
import { RowSource, type BulkRows } from "./rows.ts";
import { BulkRun } from "./run.ts";

export type { BulkRows } from "./rows.ts";

/** Sends many rows, a few at a time, over days and through crashes. */
export interface Bulk {
  /**
   * Makes a call for each row, and yields a result for each. The run starts when it is iterated or awaited.
   *
   * One bad row never ends a run; an error that every other row would meet does (`stopWhen`). The function must return
   * its call's promise, and pass `request` on to the call.
   *
   * ```ts
   * const run = audience.bulk(rows, (row, request) => audience.v1.contactGroups.addContact(listId, row, request));
   * for await (const { index, status, error } of run) if (status !== "succeeded") console.log(index, status, error);
   * console.log(await run);
   * ```
   *
   * @throws ConfigurationError if an option is wrong.
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
    // Safe: awaiting a Result gives its resolved value.
    const awaited = call as BulkCall<Row, PromiseLike<Awaited<Result>>>;
    return new BulkRun(
      new RowRunner(new RowSource<Row>(rows), awaited, parseBulkOptions<Row>(options), client),
    );
  };
  return Object.assign(bulk, {
    check: <Row>(rows: BulkRows<Row>, check: (row: Row, index: number) => CheckResult) =>
      checkRows(rows, check, client.estimateMs),
  });
}
