import {
  AudienceClient,
  type BulkCall,
  type BulkOptions,
  type BulkRows,
  type CheckResult,
  type V1Contact,
} from "audience-sdk";
import type { Checkpoint } from "audience-sdk/checkpoint";
import { v1ContactSchema } from "audience-sdk/schemas";
import { expect, it } from "vitest";
import { offline } from "../transport/fixture.ts";
import { hostileMessage } from "./build-value.ts";
import { tryEntryPoint } from "./try-entry-point.ts";
import { validV1Contact } from "./valid-inputs.ts";

const audience = new AudienceClient(offline);

/** Forgets every line. */
const checkpoint: Checkpoint = {
  open: async () => ({
    lines: (async function* () {})(),
    append: async () => undefined,
    rewrite: async () => undefined,
    close: async () => undefined,
  }),
};
const validOptions = {
  concurrency: 2,
  total: 1,
  key: () => "row",
  fingerprint: () => "as it is",
  isCurrent: () => true,
  checkConsent: true,
  checkpoint,
  organization: "acme",
  onProgress: () => undefined,
  stopWhen: () => false,
};
// Safe: the test passes rows of any type on purpose.
const upsert: BulkCall<unknown> = (row, request) => audience.v1.customers.upsert(row as V1Contact, request);

/** Four billion holes are four billion rows, which may take long. */
function rowsOf(value: unknown): BulkRows<unknown> {
  return isLong(value) ? [] : (value as BulkRows<unknown>);
}

function isLong(value: unknown): boolean {
  try {
    return Array.isArray(value) && value.length > 1_100;
  } catch {
    // A proxy that throws.
    return false;
  }
}

/** A run rejects with the error that the caller's iterable throws. */
function unlessTheirs(error: unknown): void {
  if (error instanceof Error && (error.message === hostileMessage || error instanceof TypeError)) return;
  throw error;
}

it("For any rows, each row has its result, or the run rejects with an SDK error or the iterable's error", async () => {
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

it("For any row among valid ones, each row has its result", async () => {
  const act = async (row: unknown) => {
    const rows = [validV1Contact, row, validV1Contact];
    const { total, succeeded } = await audience.bulk(rows, upsert).summary();
    expect(total).toBe(3);
    expect(succeeded).toBeGreaterThanOrEqual(2);
    const checked = await audience.bulk.check(rows, (each) => v1ContactSchema.safeParse(each));
    expect(checked.total).toBe(3);
    const recorded = audience.bulk(rows, upsert, { checkpoint });
    expect(await recorded.summary()).toMatchObject({ total: 3 });
  };
  await tryEntryPoint({ act, valid: [[validV1Contact]] }, 120);
});

it("For any options, the run ends with a result for each row, or with an SDK error", async () => {
  const act = async (options: unknown) => {
    const run = audience.bulk([validV1Contact], upsert, options as BulkOptions<unknown>);
    // A run rejects with the error that the caller's checkpoint throws.
    const summary = await run.summary().catch(unlessTheirs);
    if (summary) expect(summary).toMatchObject({ total: 1 });
  };
  await tryEntryPoint({ act, valid: [[validOptions]] }, 120);
});

it("For any value as the call or the check of a row, the run ends or throws an SDK error", async () => {
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

it("Any arguments of a run's then leave the run unchanged", async () => {
  const act = async (first: unknown, second: unknown) => {
    const run = audience.bulk([validV1Contact], upsert);
    // An error that the caller's callback throws is passed on.
    await Promise.allSettled([run.then(first as () => void, second as () => void)]);
    expect(await run).toMatchObject({ total: 1, succeeded: 1 });
  };
  await tryEntryPoint({ act, argumentCount: 2 }, 60);
});
