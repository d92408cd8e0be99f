import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AudienceClient, ConfigurationError, type V1Contact } from "audience-sdk";
import { fileCheckpoint } from "audience-sdk/checkpoint";
import { v1ContactSchema } from "audience-sdk/schemas";
import { expect, it, onTestFinished } from "vitest";
import { createFixture, key, row, rows, type Row } from "./fixture.ts";
import { MemoryCheckpoint } from "./memory-checkpoint.ts";

const check = (contact: Row) => v1ContactSchema.safeParse(contact);
const named = (index: number, first_name: string) => ({ ...row(index), first_name });
/** A limiter that grants 10 calls a minute: so an estimate tells the number of calls. */
const rateLimiter = { windows: [{ limit: 10, intervalMs: 60_000 }], reserve: 0 };

it("tells which rows are new, changed, unchanged and superseded, and sends nothing", async () => {
  const { audience, mock, upsert } = createFixture();
  const checkpoint = new MemoryCheckpoint();
  const options = { key, checkpoint };
  await audience.bulk(rows(4), upsert, options);
  const { contacts } = mock.organization("mock-organization");
  mock.unsubscribe(contacts[3]!.id);
  await audience.bulk([row(0), row(1), row(2), named(3, "Eve")], upsert, options);
  const before = { requests: mock.requests.length, lines: checkpoint.lines };

  const tonight = await audience.bulk.check(
    [row(0), row(1), named(2, "Bob"), named(3, "Eve"), row(4), { ...row(5), email: "no address" }],
    check,
    options,
  );

  expect(tonight).toMatchObject({ total: 6, valid: 5, invalid: [{ index: 5 }] });
  expect(tonight).toMatchObject({ new: 1, changed: 1, unchanged: 2, superseded: 1, inDoubt: 0 });
  expect({ requests: mock.requests.length, lines: checkpoint.lines }).toEqual(before);
});

it("counts a row without a key as invalid, as a run does", async () => {
  const { audience, mock } = createFixture();
  const options = { key, checkpoint: new MemoryCheckpoint() };

  const tonight = await audience.bulk.check(
    [row(0), { ...row(1), email: "" }],
    () => ({ success: true }),
    options,
  );

  expect(tonight).toMatchObject({
    total: 2,
    valid: 1,
    invalid: [{ index: 1, issues: [{ code: "no_key" }] }],
    new: 1,
  });
  expect(mock.requests).toEqual([]);
});

it("counts a row that failed as new, and one that may have been carried out as in doubt", async () => {
  const { audience, mock, upsert } = createFixture({}, { maxRetries: 0 });
  const options = { key, checkpoint: new MemoryCheckpoint(), concurrency: 1 };
  mock.addFault({ kind: "redirect", operation: "v1.customers.upsert", times: 1 });
  mock.addFault({ kind: "reset-after", operation: "v1.customers.upsert", times: 1 });
  const statuses: string[] = [];
  for await (const { status } of audience.bulk(rows(2), upsert, options)) statuses.push(status);

  const tonight = await audience.bulk.check(rows(2), check, { key, checkpoint: options.checkpoint });

  expect(statuses).toEqual(["failed", "unknown"]);
  expect(tonight).toMatchObject({ new: 1, inDoubt: 1, changed: 0, unchanged: 0, superseded: 0 });
});

it.each([
  { rule: "a call for a new row", tonight: rows(14).slice(3), calls: 11 },
  {
    rule: "a call and a look for a changed row",
    tonight: [named(0, "A"), named(1, "B"), named(2, "C")],
    calls: 6,
  },
  { rule: "no call for an unchanged row", tonight: rows(3), calls: 0 },
])("estimates $rule", async ({ tonight, calls }) => {
  const { audience, mock, upsert } = createFixture();
  const checkpoint = new MemoryCheckpoint();
  await audience.bulk(rows(3), upsert, { key, checkpoint });
  const idle = new AudienceClient({ ...mock.clientOptions, rateLimiter });

  const { estimateMs } = await idle.bulk.check(tonight, check, { key, checkpoint });

  expect(estimateMs).toBe(calls > 0 ? idle.rateLimiter!.estimateMs(calls, { priority: 9 }) : 0);
});

it("estimates no look where `checkConsent` is false", async () => {
  const { audience, mock, upsert } = createFixture();
  const checkpoint = new MemoryCheckpoint();
  await audience.bulk(rows(12), upsert, { key, checkpoint });
  const idle = new AudienceClient({ ...mock.clientOptions, rateLimiter });
  const tonight = rows(12).map((_, index) => named(index, "New"));

  const { estimateMs } = await idle.bulk.check(tonight, check, { key, checkpoint, checkConsent: false });

  expect(estimateMs).toBe(idle.rateLimiter!.estimateMs(12, { priority: 9 }));
});

it("counts the last of two rows with one key as changed where the first would be sent, as a run sends both", async () => {
  const { audience, upsert } = createFixture();
  const options = { key, checkpoint: new MemoryCheckpoint(), checkConsent: false };
  await audience.bulk([row(0), row(0)], upsert, options);
  const tonight = [named(0, "Ada"), row(0)];

  const plan = await audience.bulk.check(tonight, check, options);

  expect(plan).toMatchObject({ changed: 2, unchanged: 0 });
  expect(await audience.bulk(tonight, upsert, options)).toMatchObject({ succeeded: 2, skipped: 0 });
});

it("refuses a checkpoint of another organization, and closes it", async () => {
  const { audience, mock, upsert } = createFixture({
    organizations: [
      { id: "mock-organization", apiKeys: ["mock-key"], appId: "app" },
      { id: "other", apiKeys: ["other-key"], appId: "other" },
    ],
  });
  const checkpoint = new MemoryCheckpoint();
  await audience.bulk(rows(1), upsert, { key, checkpoint });
  const other = new AudienceClient({ ...mock.clientOptions, apiKey: "other-key", appId: "other" });

  await expect(other.bulk.check(rows(1), check, { key, checkpoint })).rejects.toThrow(ConfigurationError);

  expect(await audience.bulk.check(rows(1), check, { key, checkpoint })).toMatchObject({ unchanged: 1 });
});

it("leaves nothing behind where there is no checkpoint file yet", async () => {
  const { audience, upsert } = createFixture();
  const folder = mkdtempSync(join(tmpdir(), "check-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const options = { key, checkpoint: fileCheckpoint(join(folder, "rows.ckpt")) };

  expect(await audience.bulk.check(rows(2), check, options)).toMatchObject({ new: 2 });

  expect(readdirSync(folder)).toEqual([]);
  expect(await audience.bulk(rows(2), upsert, options)).toMatchObject({ succeeded: 2 });
  expect(await audience.bulk.check(rows(2), check, options)).toMatchObject({ unchanged: 2 });
  expect(readdirSync(folder)).toEqual(["rows.ckpt"]);
});

it("refuses an option that it does not know, and a missing checkpoint", async () => {
  const { audience } = createFixture();
  const checked = (options: object) =>
    audience.bulk.check(
      rows(1),
      (contact: V1Contact) => v1ContactSchema.safeParse(contact),
      options as never,
    );

  await expect(checked({ key })).rejects.toThrow(/checkpoint/);
  await expect(checked({ checkpoint: new MemoryCheckpoint(), signal: 1 })).rejects.toThrow(/signal/);
});
