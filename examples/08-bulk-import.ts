// Many rows: validated first, sent at the rate limit, with a result for each, and safe over a crash.
//
// npx tsx examples/08-bulk-import.ts
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AbortError, AudienceClient, type V1ConsentedListContact, write } from "audience-sdk";
import { fileCheckpoint } from "audience-sdk/checkpoint";
import { createMockService } from "audience-sdk/mock";

const rows: V1ConsentedListContact[] = [
  { email: "ada@example.com", email_opt_in: "SUBSCRIBED" },
  { email: "bo@example.com", email_opt_in: "UNSUBSCRIBED" },
  { email: "cy@example", email_opt_in: "NON_SUBSCRIBED", postal_code: "1" },
  { email: "di@example.com", email_opt_in: "SUBSCRIBED" },
];
const mock = createMockService();
await using audience = new AudienceClient(mock.clientOptions);

// A row becomes a write: a value, which is sent later.
const toWrite = (row: V1ConsentedListContact) => write.v1.contactGroups.addContact("mock-list", row);

// Before sending: the valid rows, the invalid rows, and an estimate of the time.
const check = await audience.bulk.check(rows, toWrite);
console.log(
  `${check.valid} of ${check.total}`,
  check.invalid.map(({ index, issues }) => [index, issues[0]?.path[0]]),
);
//=> 3 of 4 [ [ 2, 'postal_code' ] ]

const folder = await mkdtemp(join(tmpdir(), "bulk-import-"));
const startRun = (signal?: AbortSignal) =>
  audience.bulk(rows, toWrite, {
    key: (row) => row.email,
    checkpoint: fileCheckpoint(join(folder, "import.ckpt")),
    concurrency: 1,
    signal,
  });

// The user presses Ctrl-C after the first row. Rows with a refusal go first.
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
//=> bo@example.com succeeded
//=> stopped

// The same program again: it continues where it was. One bad row does not end the run.
const run = startRun();
for await (const { key, status } of run) console.log(key, status);
//=> bo@example.com skipped
//=> ada@example.com succeeded
//=> cy@example invalid
//=> di@example.com succeeded

const { total, succeeded, invalid, skipped } = await run;
console.log({ total, succeeded, invalid, skipped });
//=> { total: 4, succeeded: 2, invalid: 1, skipped: 1 }

// The next night: changed rows are sent. Di has left meanwhile, and her row still says SUBSCRIBED: it has changed, so she is
// looked up at the service, and her new name goes through with her refusal in place of that word.
rows[0] = { email: "ada@example.com", email_opt_in: "SUBSCRIBED", first_name: "Ada" };
rows[3] = { email: "di@example.com", email_opt_in: "SUBSCRIBED", first_name: "Di" };
mock.unsubscribe("di@example.com");
for await (const { key, status, kept } of startRun()) console.log(key, status, ...(kept ? [kept] : []));
//=> bo@example.com skipped
//=> ada@example.com succeeded
//=> cy@example invalid
//=> di@example.com succeeded { email: 'service' }

console.log(mock.resubscriptions.length, mock.requests.length);
//=> 0 7
await rm(folder, { recursive: true });
