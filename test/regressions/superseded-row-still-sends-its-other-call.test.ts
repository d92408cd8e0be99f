import type { BulkRequest } from "audience-sdk";
import { expect, it } from "vitest";
import { collectRun, createFixture, rows, type Row } from "../bulk/fixture.ts";

it("Once a row is superseded, none of its further calls is sent", async () => {
  const { audience, mock } = createFixture();
  const send = async ({ email, email_opt_in }: Row, request: BulkRequest) => {
    await Promise.resolve();
    await audience.v1.customers.upsert({ email, email_opt_in: "UNSUBSCRIBED" });
    return await Promise.allSettled([
      audience.v1.customers.upsert({ email, email_opt_in }, request),
      audience.v1.events.send({ eventName: "imported", contact: { email: `other-${email}` } }, request),
    ]);
  };

  const { results } = await collectRun(audience.bulk(rows(1), send));

  expect(results.map(({ status }) => status)).toEqual(["superseded"]);
  expect(mock.requests.map(({ operation }) => operation)).toEqual(["v1.customers.upsert"]);
});
