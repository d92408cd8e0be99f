// Imports a hundred rows into a mock of its own: node --import tsx child.ts CHECKPOINT
import { AudienceClient } from "audience-sdk";
import { fileCheckpoint } from "audience-sdk/checkpoint";
import { createMockService } from "audience-sdk/mock";

const mock = createMockService();
const audience = new AudienceClient(mock.clientOptions);
const rows = Array.from({ length: 100 }, (_, index) => ({
  email: `row-${index}@example.com`,
  email_opt_in: "SUBSCRIBED" as const,
}));
const run = audience.bulk(rows, (row, request) => audience.v1.customers.upsert(row, request), {
  key: ({ email }) => email,
  checkpoint: fileCheckpoint(process.argv[2] ?? ""),
});
try {
  console.log(JSON.stringify(await run.summary()));
} catch (error) {
  console.log(JSON.stringify({ error: String(error), sent: mock.requests.length }));
}
