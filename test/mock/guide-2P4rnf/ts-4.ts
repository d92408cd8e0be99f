import { strict as assert } from "node:assert";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AudienceClient } from "audience-sdk";
import { fileCheckpoint } from "audience-sdk/checkpoint";
import { createMockService } from "audience-sdk/mock";

const mock = createMockService();
const audience = new AudienceClient(mock.clientOptions);
const checkpoint = fileCheckpoint(join(mkdtempSync(join(tmpdir(), "job-")), "job.ckpt"));

// Your code: here, a job that sends a table.
async function nightly(table: { email: string; email_opt_in: "SUBSCRIBED"; city: string }[]): Promise<void> {
  const send = audience.v1.customers.upsert;
  await audience.bulk(table, (row, request) => send(row, request), { key: ({ email }) => email, checkpoint });
}

const ada = { email: "ada@example.com", email_opt_in: "SUBSCRIBED" as const };
await nightly([{ ...ada, city: "Bern" }]);
mock.unsubscribe("ada@example.com");
await nightly([{ ...ada, city: "Basel" }]);

const { consentHistory } = mock.organization("mock-organization");
assert.deepEqual(
  consentHistory.map(({ to, by }) => [to, by]),
  [
    ["SUBSCRIBED", "v1.customers.upsert"],
    ["UNSUBSCRIBED", "person"],
  ],
);
