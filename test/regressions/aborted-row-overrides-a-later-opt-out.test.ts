import { AudienceClient, RateLimiter, type BulkOptions, type BulkRequest } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { expect, it } from "vitest";
import { collectRun, key, LoggedCheckpoint, row, type Row } from "../bulk/fixture.ts";

const ada = row(0);

/** A row whose own signal ends its first night, an opt-out of the app in that night, and the same row on the next. */
async function twoNights(
  firstCall: (audience: AudienceClient) => (row: Row, request: BulkRequest) => Promise<unknown>,
  options: BulkOptions<Row> = {},
) {
  const mock = createMockService();
  const checkpoint = new LoggedCheckpoint();
  const rateLimiter = new RateLimiter({ windows: [{ limit: 1, intervalMs: 300 }] });
  const audience = new AudienceClient({ ...mock.clientOptions, rateLimiter });
  await audience.v1.contactGroups.get("mock-list");
  const statuses: string[] = [];
  for await (const { status } of audience.bulk([ada], firstCall(audience), { key, checkpoint, ...options })) {
    statuses.push(status);
    await audience.v1.customers.upsert({ email: ada.email, email_opt_in: "UNSUBSCRIBED" });
  }

  const upsert = (contact: Row, request: BulkRequest) => audience.v1.customers.upsert(contact, request);
  const { results } = await collectRun(audience.bulk([ada], upsert, { key, checkpoint }));
  statuses.push(...results.map(({ status }) => status));
  const [contact] = mock.organization("mock-organization").contacts;
  return { statuses, consent: contact?.email_opt_in };
}

// It left no record, and so counted as new on the next night.
it("A row that its own signal ends in the queue does not override an opt-out of that night on the next", async () => {
  const firstCall = (audience: AudienceClient) => async (contact: Row, request: BulkRequest) => {
    const signal = AbortSignal.any([request.signal, AbortSignal.timeout(50)]);
    await audience.v1.customers.upsert(contact, { ...request, signal });
  };

  expect(await twoNights(firstCall)).toEqual({ statuses: ["failed", "superseded"], consent: "UNSUBSCRIBED" });
});

it.each([
  ["aborted", { signal: AbortSignal.abort() }],
  ["refused for its rate", { maxRetries: 0 }],
])("Nor does a row whose isCurrent was %s", async (_, options) => {
  const firstCall = (audience: AudienceClient) => (contact: Row, request: BulkRequest) =>
    audience.v1.customers.upsert(contact, request);
  const other = new AudienceClient(createMockService({ faults: [{ kind: "429" }] }).clientOptions);
  const isCurrent = async () => {
    await other.v1.contactGroups.get("mock-list", options);
    return true;
  };

  const nights = await twoNights(firstCall, { isCurrent });

  expect(nights).toEqual({ statuses: ["failed", "superseded"], consent: "UNSUBSCRIBED" });
});
