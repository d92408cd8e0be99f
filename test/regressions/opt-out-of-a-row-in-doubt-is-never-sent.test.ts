import type { BulkRequest } from "audience-sdk";
import { expect, it } from "vitest";
import { createFixture, key, LoggedCheckpoint, row, type Row } from "../bulk/fixture.ts";

const optOut: Row = { ...row(0), email_opt_in: "UNSUBSCRIBED" };

/** A row in doubt: its second mail could go out. */
async function rowInDoubt() {
  const world = createFixture({ faults: [{ kind: "reset-after", times: 1 }] });
  const options = { checkpoint: new LoggedCheckpoint(), key };
  const mailed = (item: Row, request: BulkRequest) =>
    world.audience.v1.customers.upsert({ ...item, double_opt_in: true }, request);
  expect(await world.audience.bulk([row(0)], mailed, options)).toMatchObject({ unknown: 1 });
  return { ...world, options, mailed };
}

it("a row in doubt that has changed is sent when its call is repeatable now, and then recorded", async () => {
  const { audience, mock, options, upsert } = await rowInDoubt();

  const nights = [
    await audience.bulk([optOut], upsert, options),
    await audience.bulk([optOut], upsert, options),
  ];

  expect(nights).toMatchObject([{ succeeded: 1 }, { skipped: 1 }]);
  expect(mock.organization("mock-organization").contacts).toMatchObject([{ email_opt_in: "UNSUBSCRIBED" }]);
});

it("a changed row in doubt stays in doubt while its call is not repeatable, and nothing is sent", async () => {
  const { audience, mock, options, mailed } = await rowInDoubt();
  const changed: Row = { ...row(0), email_opt_in: "NON_SUBSCRIBED" };

  const results = [];
  for (let night = 0; night < 2; night++)
    for await (const result of audience.bulk([changed], mailed, options)) results.push(result);

  expect(results).toMatchObject([
    { status: "unknown", error: { message: "Not sent again: an earlier run may have carried it out." } },
    { status: "unknown" },
  ]);
  expect(mock.requests).toHaveLength(1);
});

it("a crash while the changed row is sent leaves it in doubt and changed: the next run sends it", async () => {
  const { audience, mock, options, upsert } = await rowInDoubt();
  mock.addFault({ kind: "reset-before", times: 1 });
  const once = audience.withOptions({ maxRetries: 0 });
  const call = (item: Row, request: BulkRequest) => once.v1.customers.upsert(item, request);

  const nights = [
    await audience.bulk([optOut], call, options),
    await audience.bulk([optOut], upsert, options),
  ];

  expect(nights).toMatchObject([{ unknown: 1 }, { succeeded: 1 }]);
  expect(mock.organization("mock-organization").contacts).toMatchObject([{ email_opt_in: "UNSUBSCRIBED" }]);
});

it("of the calls of a changed row in doubt only the repeatable ones are sent, once", async () => {
  const { audience, mock, options, upsert, mailed } = await rowInDoubt();
  const both = async (item: Row, request: BulkRequest) => {
    await upsert(item, request);
    return await mailed(item, request);
  };

  const nights = [await audience.bulk([optOut], both, options), await audience.bulk([optOut], both, options)];

  expect(nights).toMatchObject([{ unknown: 1 }, { unknown: 1 }]);
  expect(mock.requests.slice(1).map(({ body }) => body)).toEqual([optOut]);
});

it("a row whose changed version has an unknown outcome is sent again the next night, also when it changes back", async () => {
  const { audience, mock, options, mailed, upsert } = await rowInDoubt();
  const once = audience.withOptions({ maxRetries: 0 });
  const call = (item: Row, request: BulkRequest) => once.v1.customers.upsert(item, request);
  const both = (item: Row, request: BulkRequest) =>
    Promise.all([upsert(item, request), mailed(item, request)]);
  mock.addFault({ kind: "500-before", times: 1 });

  const nights = [
    await once.bulk([optOut], call, options),
    await audience.bulk([row(0)], both, options),
    await audience.bulk([row(0)], both, options),
  ];

  expect(nights).toMatchObject([{ unknown: 1 }, { unknown: 1 }, { unknown: 1 }]);
  expect(mock.requests.slice(1).map(({ body }) => body)).toEqual([optOut, row(0)]);
});

it("a superseded version keeps the doubt: a second mail is not sent", async () => {
  const { audience, mock, options, mailed, upsert } = await rowInDoubt();

  const nights = [
    await audience.bulk([optOut], upsert, { ...options, isCurrent: () => false }),
    await audience.bulk([optOut], upsert, options),
    await audience.bulk([row(0)], mailed, options),
  ];

  expect(nights).toMatchObject([{ superseded: 1 }, { superseded: 1 }, { unknown: 1 }]);
  expect(mock.requests).toHaveLength(1);
});

it("an opt-out that another call wrote while a changed version was sent binds the next night", async () => {
  const { audience, mock, options } = await rowInDoubt();
  const once = audience.withOptions({ maxRetries: 0 });
  const changed: Row = { ...row(0), email_opt_in: "NON_SUBSCRIBED" };
  mock.addFault({ kind: "500-before", times: 1 });
  const call = async (item: Row, request: BulkRequest) => {
    try {
      await once.v1.customers.upsert(item, request);
    } finally {
      await once.v1.customers.upsert(optOut);
    }
  };

  const nights = [await once.bulk([changed], call, options), await once.bulk([changed], call, options)];

  expect(nights).toMatchObject([{ unknown: 1 }, { superseded: 1 }]);
});

it("the error of a refused call has the outcome of the earlier run, and does not end the run", async () => {
  const { audience, options, mailed } = await rowInDoubt();
  const changed: Row = { ...row(0), email_opt_in: "NON_SUBSCRIBED" };
  const refusals: unknown[] = [];
  const call = (item: Row, request: BulkRequest) =>
    mailed(item, request).catch((error: unknown) => {
      refusals.push(error);
      throw error;
    });

  const summary = await audience.bulk([changed, row(1)], call, { ...options, stopWhen: () => true });

  expect(summary).toMatchObject({ unknown: 1, succeeded: 1 });
  expect(refusals).toMatchObject([{ code: "connection", outcome: "unknown" }]);
});
