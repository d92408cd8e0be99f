import type { BulkRequest } from "audience-sdk";
import { expect, it } from "vitest";
import { createFixture, key, LoggedCheckpoint, row, type Row } from "../bulk/fixture.ts";
import { failureOf } from "../transport/failure.ts";

it("a row whose call comes after the end of the run is sent by the next run", async () => {
  const { audience, mock, upsert } = createFixture();
  const checkpoint = new LoggedCheckpoint();
  let late: BulkRequest | undefined;
  const forgetful = async (_: Row, request: BulkRequest) => void (late = request);
  const optOut: Row = { ...row(0), email_opt_in: "UNSUBSCRIBED" };
  const first = await audience.bulk([optOut], forgetful, { checkpoint, key });

  const lateCall = await failureOf(upsert(optOut, late!));
  const second = await audience.bulk([optOut], upsert, { checkpoint, key });

  expect(first).toMatchObject({ succeeded: 1 });
  expect(lateCall).toMatchObject({
    code: "configuration",
    outcome: "not-sent",
    message: expect.stringContaining("must return or await its call"),
  });
  expect(second).toMatchObject({ succeeded: 1, skipped: 0 });
  expect(mock.requests.map(({ body }) => body)).toEqual([optOut]);
});

it("a row that needs no call is asked for again by the next run", async () => {
  const { audience, mock, upsert } = createFixture();
  const checkpoint = new LoggedCheckpoint();
  const call = async (item: Row, request: BulkRequest) =>
    item.email_opt_in === "SUBSCRIBED" ? undefined : await upsert(item, request);
  const rows: Row[] = [row(0), { ...row(1), email_opt_in: "UNSUBSCRIBED" }];

  const nights = [1, 2].map(() => audience.bulk(rows, call, { checkpoint, key }));

  expect([await nights[0], await nights[1]]).toMatchObject([{ succeeded: 2 }, { succeeded: 1, skipped: 1 }]);
  expect(mock.requests).toHaveLength(1);
});

it("a row that only reads is recorded, and skipped by the next run", async () => {
  const { audience, mock } = createFixture();
  const checkpoint = new LoggedCheckpoint();
  const read = (_: Row, request: BulkRequest) => audience.v1.customers.list({}, request);

  await audience.bulk([row(0)], read, { checkpoint, key });
  const second = await audience.bulk([row(0)], read, { checkpoint, key });

  expect(second).toMatchObject({ skipped: 1 });
  expect(mock.requests).toHaveLength(1);
});
