// Many rows: validated first, sent at the rate limit, with a result for each, and safe over a crash.
//
// npx tsx examples/08-bulk-import.ts
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AbortError, AudienceClient, type V1ConsentedListContact } from "audience-sdk";
import { fileCheckpoint } from "audience-sdk/checkpoint";
import { createMockService } from "audience-sdk/mock";
import { v1ListContactSchema } from "audience-sdk/schemas";

const rows: V1ConsentedListContact[] = [
  { email: "ada@example.com", email_opt_in: "SUBSCRIBED" },
  { email: "bo@example.com", email_opt_in: "UNSUBSCRIBED" },
  { email: "cy@example", email_opt_in: "NON_SUBSCRIBED", postal_code: "1" },
  { email: "di@example.com", email_opt_in: "SUBSCRIBED" },
];
const mock = createMockService();
await using audience = new AudienceClient(mock.clientOptions);

// Before sending: the valid rows, the invalid rows, and an estimate of the time.
const check = await audience.bulk.check(rows, (row) => v1ListContactSchema.safeParse(row));
console.log(
  `${check.valid} of ${check.total}`,
  check.invalid.map(({ index, issues }) => [index, issues[0]?.path[0]]),
);
//=> 3 of 4 [ [ 2, 'postal_code' ] ]

const folder = await mkdtemp(join(tmpdir(), "bulk-import-"));
const startRun = (signal?: AbortSignal) =>
  audience.bulk(rows, (row, request) => audience.v1.contactGroups.addContact("mock-list", row, request), {
    key: (row) => row.email,
    checkpoint: fileCheckpoint(join(folder, "import.ckpt")),
    concurrency: 1,
    signal,
  });

// The user presses Ctrl-C after the first row.
const stop = new AbortController();
try {
  for await (const { key, status } of startRun(stop.signal)) {
    console.log(key, status);
    stop.abort();
  }
} catch (error) {
  if (!(error instanceof AbortError)) throw error;
  console.log("stopped");
}
//=> ada@example.com succeeded
//=> stopped

// The same program again: it continues where it was. One bad row does not end the run.
const run = startRun();
for await (const { key, status } of run) console.log(key, status);
//=> ada@example.com skipped
//=> bo@example.com succeeded
//=> cy@example invalid
//=> di@example.com succeeded

const { total, succeeded, invalid, skipped } = await run;
console.log({ total, succeeded, invalid, skipped });
//=> { total: 4, succeeded: 2, invalid: 1, skipped: 1 }

// The next night: changed rows are sent. Meanwhile the same client unsubscribes Di, whose row still says SUBSCRIBED: it has
// changed, so it is looked up at the service (one of the six requests), and not sent.
rows[1] = { email: "bo@example.com", email_opt_in: "SUBSCRIBED" };
rows[3] = { email: "di@example.com", email_opt_in: "SUBSCRIBED", first_name: "Di" };
for await (const { key, status } of startRun()) {
  console.log(key, status);
  if (key === "ada@example.com")
    await audience.v1.customers.upsert({ email: "di@example.com", email_opt_in: "UNSUBSCRIBED" });
}
//=> ada@example.com skipped
//=> bo@example.com succeeded
//=> cy@example invalid
//=> di@example.com superseded

console.log(mock.requests.length, mock.organization("mock-organization").memberships.length);
//=> 6 3
await rm(folder, { recursive: true });
