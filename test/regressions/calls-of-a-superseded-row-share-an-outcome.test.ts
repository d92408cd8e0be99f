import { isAudienceError, type BulkRequest } from "audience-sdk";
import { expect, it } from "vitest";
import { collectRun, createFixture, rows, type Row } from "../bulk/fixture.ts";

// Both threw one error, which had the outcome of the first.
it("Of a superseded row, a call that was sent before says `unknown`, and so does the row", async () => {
  const { audience, mock } = createFixture({ faults: [{ kind: "500-after", times: 1 }] });
  const outcomes: string[] = [];
  const note = (error: unknown) => {
    if (isAudienceError(error)) outcomes.push(`${error.request?.operation}: ${error.outcome}`);
  };
  const send = async ({ email, email_opt_in }: Row, request: BulkRequest) => {
    const sent = audience.v1.customers.upsert({ email, email_opt_in }, request).catch(note);
    // The other call begins once the first has been sent.
    while (mock.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    const other = { email: `other-${email}`, email_opt_in };
    await Promise.all([sent, audience.v1.contactGroups.addContact("mock-list", other, request).catch(note)]);
  };

  const isCurrent = () => mock.requests.length === 0;
  const { results } = await collectRun(audience.bulk(rows(1), send, { isCurrent }));

  expect(outcomes.toSorted()).toEqual([
    "v1.contactGroups.addContact: not-sent",
    "v1.customers.upsert: unknown",
  ]);
  expect(results).toMatchObject([{ status: "superseded", error: { outcome: "unknown" } }]);
});

it("A superseded row says `unknown` if another of its calls may have been carried out", async () => {
  const { audience, mock } = createFixture({ faults: [{ kind: "500-after", times: 1 }] });
  const send = async ({ email, email_opt_in }: Row, request: BulkRequest) => {
    const once = { ...request, maxRetries: 0 };
    await Promise.allSettled([audience.v1.customers.upsert({ email, email_opt_in }, once)]);
    await audience.v1.customers.upsert({ email: `other-${email}`, email_opt_in }, request);
  };

  const isCurrent = () => mock.requests.length === 0;
  const { results } = await collectRun(audience.bulk(rows(1), send, { isCurrent }));

  expect(results).toMatchObject([{ status: "superseded", error: { code: "aborted", outcome: "unknown" } }]);
});
