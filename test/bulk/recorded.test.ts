import { AudienceClient, type BulkRequest } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { describe, expect, it } from "vitest";
import { collectRun, createFixture, key, row, rows, type Row } from "./fixture.ts";
import { MemoryCheckpoint } from "./memory-checkpoint.ts";

/** A world in which each request notes what a kill, and what a loss of power, would leave as it arrives. */
function createFragileWorld() {
  const { mock } = createFixture();
  const checkpoint = new MemoryCheckpoint();
  const left: { killed: MemoryCheckpoint; withoutPower: MemoryCheckpoint }[] = [];
  const fetch = async (url: string, init: RequestInit) => {
    left.push({ killed: checkpoint.copy(), withoutPower: checkpoint.afterPowerLoss() });
    return await mock.fetch(url, init);
  };
  const { audience, upsert } = createFixture({}, { ...mock.clientOptions, fetch });
  const mailed = (item: Row, request: BulkRequest) =>
    audience.v1.customers.upsert({ ...item, double_opt_in: true }, request);
  return { mock, audience, upsert, mailed, checkpoint, left, options: { checkpoint, key } };
}

describe("With a checkpoint", () => {
  it("a row is recorded before it is sent, and its outcome before its result is yielded and the next row starts", async () => {
    const { mock } = createFixture();
    const checkpoint = new MemoryCheckpoint();
    const fetch = async (url: string, init: RequestInit) => {
      checkpoint.log.push("sent");
      return await mock.fetch(url, init);
    };
    const { audience, upsert } = createFixture({}, { ...mock.clientOptions, fetch });

    for await (const _ of audience.bulk(rows(3), upsert, { checkpoint, key, concurrency: 1 }))
      checkpoint.log.push("taken");

    expect(checkpoint.log.join()).toMatch(/^open,((append,)+sent,(append,)+taken,){3}(append,)*close$/);
  });

  it("rows that succeeded are skipped by the next run, and the other rows are sent", async () => {
    const { audience, mock, upsert } = createFixture(
      { faults: [{ kind: "500-before", times: 1, after: 1 }] },
      { maxRetries: 0 },
    );
    const checkpoint = new MemoryCheckpoint();
    const first = await audience.bulk(rows(3), upsert, { checkpoint, key, concurrency: 1 }).summary();

    const { results } = await collectRun(audience.bulk(rows(4), upsert, { checkpoint, key, concurrency: 1 }));

    expect(first).toMatchObject({ succeeded: 2, unknown: 1 });
    expect(results.map(({ status }) => status)).toEqual(["skipped", "succeeded", "skipped", "succeeded"]);
    expect(mock.requests.map(({ body }) => (body as Row).email[4])).toEqual(["0", "1", "2", "1", "3"]);
  });

  it("no further row is read once the loop was left at a row that was skipped", async () => {
    const { audience, upsert } = createFixture();
    const checkpoint = new MemoryCheckpoint();
    await audience.bulk(rows(3), upsert, { checkpoint, key }).summary();
    const read: string[] = [];
    function* source() {
      for (const item of rows(3)) {
        read.push(item.email);
        yield item;
      }
    }

    for await (const { status } of audience.bulk(source(), upsert, { checkpoint, key })) {
      expect(status).toBe("skipped");
      break;
    }

    expect(read).toEqual(["row-0@example.com"]);
  });

  it("a row that was killed as it was sent is sent again, if it may be repeated", async () => {
    const { audience, upsert, left, options, mock } = createFragileWorld();
    await audience.bulk(rows(1), upsert, options);

    const again = await audience.bulk(rows(1), upsert, { key, checkpoint: left[0]!.killed });

    expect(again).toMatchObject({ succeeded: 1 });
    expect(mock.requests).toHaveLength(2);
  });

  it.each([
    ["is its first call", 0, ["mailed", "upsert"]],
    ["is its first call, and a later one is in flight", 1, ["mailed", "upsert"]],
    ["is its second call", 1, ["upsert", "mailed"]],
  ] as const)("is in doubt, where what may not be repeated %s", async (_, at, calls) => {
    const world = createFragileWorld();
    const { audience, left, options, mock } = world;
    const call = async (item: Row, request: BulkRequest) => {
      for (const name of calls) await world[name](item, request);
    };
    await audience.bulk(rows(1), call, options);
    mock.reset();

    const again = await audience.bulk(rows(1), call, { key, checkpoint: left[at]!.killed });

    expect(again).toMatchObject({ unknown: 1 });
    expect(mock.requests).toEqual([]);
  });
});

describe("What a loss of power cannot lose", () => {
  it("is a call that must not be repeated", async () => {
    const { audience, mailed, left, options, mock } = createFragileWorld();
    await audience.bulk(rows(1), mailed, options);

    const again = await audience.bulk(rows(1), mailed, { key, checkpoint: left[0]!.withoutPower });

    expect(again).toMatchObject({ unknown: 1 });
    expect(mock.requests).toHaveLength(1);
  });

  it("is that a changed row was sent: if it changes back, it is sent again", async () => {
    const { audience, upsert, left, options, mock } = createFragileWorld();
    await audience.bulk(rows(1), upsert, options);
    const optOut: Row = { ...row(0), email_opt_in: "UNSUBSCRIBED" };
    await audience.bulk([optOut], upsert, options);

    const back = await audience.bulk(rows(1), upsert, { key, checkpoint: left[1]!.withoutPower });

    expect(back).toMatchObject({ succeeded: 1 });
    expect(mock.organization("mock-organization").contacts).toMatchObject([{ email_opt_in: "SUBSCRIBED" }]);
  });

  it("is that a row's sending makes the next one with its key be sent again", async () => {
    const { audience, upsert, left, options, mock } = createFragileWorld();
    const [first, last] = [{ ...row(0), email_opt_in: "NON_SUBSCRIBED" } as Row, row(0)];
    await audience.bulk([first, last], upsert, options);
    const changed = { ...first, first_name: "Ada" };
    await audience.bulk([changed, last], upsert, options);

    await audience.bulk([changed, last], upsert, { key, checkpoint: left[2]!.withoutPower });

    expect(mock.organization("mock-organization").contacts).toMatchObject([{ email_opt_in: "SUBSCRIBED" }]);
  });

  it("is a consent that another call writes while the run lasts", async () => {
    const { audience, upsert, left, options, mock } = createFragileWorld();
    async function* source() {
      yield row(1);
      await audience.v1.customers.upsert({ ...row(0), email_opt_in: "UNSUBSCRIBED" });
    }
    await audience.bulk(source(), upsert, options);
    const at = mock.requests.findIndex(({ body }) => (body as Row).email === row(0).email);
    const next = createFixture({}, mock.clientOptions);

    const again = await next.audience.bulk(rows(2), next.upsert, {
      key,
      checkpoint: left[at]!.withoutPower,
    });

    expect(again).toMatchObject({ superseded: 1 });
    expect(mock.organization("mock-organization").contacts).toContainEqual(
      expect.objectContaining({ email: row(0).email, email_opt_in: "UNSUBSCRIBED" }),
    );
  });
});

it("Two clients of one process may run over one checkpoint, one after the other", async () => {
  const mock = createMockService();
  const checkpoint = new MemoryCheckpoint();
  const run = () => {
    const audience = new AudienceClient(mock.clientOptions);
    return audience
      .bulk(rows(5), (item, request) => audience.v1.customers.upsert(item, request), { checkpoint, key })
      .summary();
  };

  expect([await run(), await run()]).toMatchObject([{ succeeded: 5 }, { skipped: 5 }]);
  expect(mock.requests).toHaveLength(5);
});
