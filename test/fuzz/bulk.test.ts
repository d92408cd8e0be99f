import {
  AudienceClient,
  type BulkCall,
  type BulkOptions,
  type BulkRows,
  type CheckResult,
  type V1Contact,
} from "audience-sdk";
import { v1ContactSchema } from "audience-sdk/schemas";
import { expect, it } from "vitest";
import { hostileMessage } from "./build-value.ts";
import { offline } from "./offline-client.ts";
import { tryEntryPoint } from "./try-entry-point.ts";
import { validV1Contact } from "./valid-inputs.ts";

const audience = new AudienceClient(offline);
const open = { get: () => undefined, set: () => undefined, clear: () => undefined, close: () => undefined };
const validOptions = {
  concurrency: 2,
  total: 1,
  key: () => "row",
  fingerprint: () => "as it is",
  isCurrent: () => true,
  checkpoint: { open: async () => open },
  onProgress: () => undefined,
  stopWhen: () => false,
};
// As rows are that no compiler has seen.
const upsert: BulkCall<unknown> = (row, request) => audience.v1.customers.upsert(row as V1Contact, request);

/** Four billion holes are four billion rows: they take their time, and that is no fault. */
function rowsOf(value: unknown): BulkRows<unknown> {
  return isLong(value) ? [] : (value as BulkRows<unknown>);
}

function isLong(value: unknown): boolean {
  try {
    return Array.isArray(value) && value.length > 1_100;
  } catch {
    // A proxy that does not tell.
    return false;
  }
}

/** What an iterable of the caller's throws once it is being read is what its run rejects with. */
function unlessTheirs(error: unknown): void {
  if (error instanceof Error && (error.message === hostileMessage || error instanceof TypeError)) return;
  throw error;
}

it("Whatever the rows are, each has its result, or the run rejects with an error of ours or the iterable's", async () => {
  const act = async (rows: unknown) => {
    const run = audience.bulk(rowsOf(rows), upsert);
    const summary = await run.summary().catch(unlessTheirs);
    if (summary) {
      const { total, succeeded, invalid, failed, unknown } = summary;
      expect(succeeded + invalid + failed + unknown).toBe(total);
    }
    await audience.bulk.check(rowsOf(rows), (row) => v1ContactSchema.safeParse(row)).catch(unlessTheirs);
  };
  await tryEntryPoint({ act, valid: [[[validV1Contact, validV1Contact]]] }, 120);
});

it("Whatever one row among others is, each has its result", async () => {
  const act = async (row: unknown) => {
    const rows = [validV1Contact, row, validV1Contact];
    const { total, succeeded } = await audience.bulk(rows, upsert).summary();
    expect(total).toBe(3);
    expect(succeeded).toBeGreaterThanOrEqual(2);
    const checked = await audience.bulk.check(rows, (each) => v1ContactSchema.safeParse(each));
    expect(checked.total).toBe(3);
    const recorded = audience.bulk(rows, upsert, { checkpoint: validOptions.checkpoint });
    expect(await recorded.summary()).toMatchObject({ total: 3 });
  };
  await tryEntryPoint({ act, valid: [[validV1Contact]] }, 120);
});

it("Whatever the options are, the run ends with a result for each row, or an error of ours", async () => {
  const act = async (options: unknown) => {
    const run = audience.bulk([validV1Contact], upsert, options as BulkOptions<unknown>);
    // What a checkpoint of the caller's throws is what its run rejects with.
    const summary = await run.summary().catch(unlessTheirs);
    if (summary) expect(summary).toMatchObject({ total: 1 });
  };
  await tryEntryPoint({ act, valid: [[validOptions]] }, 120);
});

it("Whatever stands for the call or the check of a row, the run ends, or an error of ours is thrown", async () => {
  const act = async (value: unknown, given: unknown) => {
    await audience.bulk.check([1], () => value as CheckResult);
    await audience.bulk([1], async () => value).summary();
    await audience.bulk.check([1], given as () => CheckResult);
    await audience.bulk([1], given as () => Promise<void>).summary();
  };
  await tryEntryPoint(
    { act, argumentCount: 2, valid: [[{ success: false, error: { issues: [] } }], []] },
    120,
  );
});

it("Whatever is given to then of a run changes nothing", async () => {
  const act = async (first: unknown, second: unknown) => {
    const run = audience.bulk([validV1Contact], upsert);
    // What a callback of the caller's throws is the caller's.
    await Promise.allSettled([run.then(first as () => void, second as () => void)]);
    expect(await run).toMatchObject({ total: 1, succeeded: 1 });
  };
  await tryEntryPoint({ act, argumentCount: 2 }, 60);
});
