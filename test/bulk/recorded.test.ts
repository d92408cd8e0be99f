import { AudienceClient, type BulkRequest, ConfigurationError } from "audience-sdk";
import { createMockService, type MockService } from "audience-sdk/mock";
import { describe, expect, it } from "vitest";
import { collectRun, createFixture, key, row, type Row, rows, until, v2Contact } from "./fixture.ts";
import { MemoryCheckpoint, RewrittenCheckpoint } from "./memory-checkpoint.ts";

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

  it("a row that was killed as it was sent is in doubt also after a run that rewrote the checkpoint, and did not reach it", async () => {
    const { audience, mailed, left, options, mock } = createFragileWorld();
    await audience.bulk(rows(1), mailed, options);
    const checkpoint = new RewrittenCheckpoint(left[0]!.killed.lines);
    const stop = new AbortController();
    async function* source() {
      await until(() => checkpoint.log.includes("append"));
      stop.abort();
      yield* rows(1);
    }
    const stopped = collectRun(audience.bulk(source(), mailed, { key, checkpoint, signal: stop.signal }));
    expect(await stopped).toMatchObject({ results: [], error: { code: "aborted" } });
    expect(checkpoint.log).toContain("rewrite");

    const again = await audience.bulk(rows(1), mailed, { key, checkpoint });

    expect(again).toMatchObject({ unknown: 1 });
    expect(mock.requests).toHaveLength(1);
  });
});

it("A checkpoint is rewritten once it has grown to twice what counts, and not again before it has anew", async () => {
  const { audience, upsert } = createFixture();
  const checkpoint = new MemoryCheckpoint();
  const rewrites: number[] = [];
  for (const city of ["Ulm", "Bonn", "Bonn", "Bonn", "Bonn"]) {
    const night = rows(10).map((each) => ({ ...each, city }));
    await audience.bulk(night, upsert, { key, checkpoint, checkConsent: false });
    rewrites.push(checkpoint.log.filter((each) => each === "rewrite").length);
  }

  expect(rewrites).toEqual([0, 0, 1, 1, 1]);
});

it("A row waits for the storage once at most, and only if it was recorded before, or must not be repeated", async () => {
  const world = createFixture();
  const flushes: number[] = [];
  class CountingCheckpoint extends MemoryCheckpoint {
    override append = async (text: string, isFlushed: boolean) => {
      if (isFlushed && text.startsWith('["sends"')) flushes[0]! += 1;
      await super.append(text, isFlushed);
    };
  }
  const options = { key, checkpoint: new CountingCheckpoint() };
  const night = async (items: readonly Row[]) => {
    flushes.unshift(0);
    const send = async (item: Row, request: BulkRequest) => {
      await world.upsert(item, request);
      await world.upsert(item, request);
    };
    await world.audience.bulk(items, send, options);
  };

  await night(rows(3));
  await night(rows(3).map((item) => ({ ...item, first_name: "Ada" })));
  await night([{ ...row(9), double_opt_in: true } as Row]);

  expect(flushes).toEqual([1, 3, 0]);
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

it("A row whose end was recorded and whose begin was lost is looked up and sent, as a changed one", async () => {
  const { audience, mock, upsert } = createFixture();
  const whole = new MemoryCheckpoint();
  await audience.bulk(rows(1), upsert, { key, checkpoint: whole });
  const lines = whole.lines.filter((line) => !line.startsWith('["sends"'));
  const checkpoint = new MemoryCheckpoint([...lines, '["ends","of a row that is gone","succeeded"]']);

  const summary = await audience.bulk(rows(1), upsert, { key, checkpoint });

  expect(summary).toMatchObject({ succeeded: 1 });
  const [upsert1, ...later] = mock.requests.map(({ operation }) => operation);
  expect(later).toEqual(["v1.customers.get", upsert1]);
});

/** A checkpoint after a night of two rows, with one more line. */
async function checkpointWith(line: string): Promise<MemoryCheckpoint> {
  const { audience, upsert } = createFixture();
  const checkpoint = new MemoryCheckpoint();
  await audience.bulk(rows(2), upsert, { key, checkpoint });
  return new MemoryCheckpoint([...checkpoint.lines, line]);
}

it.each([
  ["nothing", ""],
  ["no JSON", '["over"'],
  ["no array", '{"over":true}'],
  ["an empty array", "[]"],
  ["null", "null"],
  ["an event that does not exist", '["ran",1]'],
  ["a name of every object", '["toString"]'],
  ["a part too many", '["over",1]'],
  ["an end without its way", '["ends","a"]'],
  ["a part of another type", '["sends","a","b","c",1]'],
  ["a run without its target", '["run","a",true,{}]'],
  ["a run of an earlier version, which named no service", '["run","a",true,null]'],
  ["a consent without its contacts", '["writes",1,"a",{}]'],
  ["a consent of null", '["writes",1,["a"],null]'],
])("A line that holds %s ends the run before anything is sent, and is left as it is", async (_, line) => {
  const checkpoint = await checkpointWith(line);
  const { audience, mock, upsert } = createFixture();
  const before = checkpoint.lines;

  const { error } = await collectRun(audience.bulk(rows(1), upsert, { key, checkpoint }));

  expect(error).toEqual(
    new ConfigurationError(
      `The checkpoint is damaged at line ${before.length}, or was written by another version. It is left unchanged. ` +
        "Restore it, or end its run with the version that wrote it. Another checkpoint sends every row, and knows none " +
        "of the consents that this one keeps from being overridden.",
    ),
  );
  expect(mock.requests).toEqual([]);
  expect(checkpoint.lines).toEqual(before);
  expect(checkpoint.log.at(-1)).toBe("close");
});

it.each([1, 2])("A checkpoint that has lost its first lines, %i, is refused", async (lost) => {
  const { audience, mock, upsert } = createFixture();
  const whole = new MemoryCheckpoint();
  await audience.bulk(rows(2), upsert, { key, checkpoint: whole }).summary();
  const checkpoint = new MemoryCheckpoint(whole.lines.slice(lost));
  const before = checkpoint.lines;

  const { error } = await collectRun(audience.bulk(rows(2), upsert, { key, checkpoint }));

  expect(String(error)).toMatch("The checkpoint is damaged at line 1");
  expect(mock.requests).toHaveLength(2);
  expect(checkpoint.lines).toEqual(before);
});

it("After the end of a run without a key nothing more is recorded in its checkpoint", async () => {
  const { audience, mock, upsert } = createFixture();
  class EmptiedCheckpoint extends MemoryCheckpoint {
    override async rewrite(lines: Iterable<string>) {
      await super.rewrite(lines);
      await audience.v1.customers.upsert({ email: "ada@example.com", email_opt_in: "UNSUBSCRIBED" });
    }
  }
  const checkpoint = new EmptiedCheckpoint();

  await audience.bulk(rows(1), upsert, { checkpoint }).summary();
  expect(checkpoint.lines).toEqual([]);
  const next = await audience.bulk(rows(1), upsert, { checkpoint }).summary();

  expect(next).toMatchObject({ succeeded: 1 });
  expect(mock.requests).toHaveLength(4);
});

it("A status of v2 is recorded as it is sent, also with half a character", async () => {
  const { audience, mock } = createFixture();
  const options = { key: (email: string) => email, checkpoint: new MemoryCheckpoint() };
  const upsert = (email: string, request: BulkRequest) =>
    audience.v2.contacts.upsert(v2Contact(email, "waits\uD800"), request);

  const nights = [];
  for (let night = 0; night < 2; night++)
    nights.push(await audience.bulk(["ada@example.com"], upsert, options).summary());

  expect(nights).toMatchObject([{ succeeded: 1 }, { skipped: 1 }]);
  expect(mock.requests).toHaveLength(1);
});

interface NightlyRow extends Row {
  readonly city: string;
  readonly phone?: string;
  readonly phone_opt_in?: "SUBSCRIBED";
}

/** What happens every night: the row, and what others do before it. */
interface Nightly {
  readonly rowOf: (night: number) => Partial<NightlyRow>;
  readonly before?: (mock: MockService, audience: AudienceClient) => unknown;
  readonly isCurrent?: () => boolean;
}

const nightly: [string, Nightly][] = [
  ["changes", { rowOf: () => ({}) }],
  ["is superseded by the service", { rowOf: () => ({}), before: (mock) => mock.unsubscribe(row(0).email) }],
  ["is refused by isCurrent", { rowOf: () => ({}), isCurrent: () => false }],
  [
    "fails",
    {
      rowOf: () => ({}),
      before: (mock) => mock.addFault({ kind: "redirect", operation: "v1.customers.upsert", times: 1 }),
    },
  ],
  [
    "fails, and states another consent",
    {
      rowOf: (night) => ({ email_opt_in: night % 2 === 0 ? "SUBSCRIBED" : "NON_SUBSCRIBED" }),
      before: (mock) => mock.addFault({ kind: "redirect", operation: "v1.customers.upsert", times: 1 }),
    },
  ],
  [
    "may have been applied, and states another consent",
    {
      rowOf: (night) => ({ email_opt_in: night % 2 === 0 ? "SUBSCRIBED" : "UNSUBSCRIBED" }),
      before: (mock) => mock.addFault({ kind: "wrong-json", operation: "v1.customers.upsert", times: 1 }),
    },
  ],
  ["is invalid", { rowOf: () => ({ email_opt_in: "subscribed" as "SUBSCRIBED" }) }],
  [
    "lacks a channel",
    { rowOf: (night) => (night === 0 ? { phone: "+15550100", phone_opt_in: "SUBSCRIBED" } : {}) },
  ],
  ["changes its address", { rowOf: (night) => ({ email: `ada-${night}@example.com` }) }],
  [
    "changes its address, and fails",
    {
      rowOf: (night) => ({ email: `ada-${night}@example.com` }),
      before: (mock) => mock.addFault({ kind: "redirect", operation: "v1.customers.upsert", times: 1 }),
    },
  ],
];

it.each(nightly)("The record of a row that %s every night does not grow without end", async (_, given) => {
  const { rowOf, before, isCurrent } = given;
  const { audience, mock } = createFixture();
  const checkpoint = new MemoryCheckpoint();
  const upsert = (item: NightlyRow, request: BulkRequest) => audience.v1.customers.upsert(item, request);
  const sizes: number[] = [];
  for (let night = 0; night < 36; night++) {
    if (night > 0) before?.(mock, audience);
    const item = { ...row(0), city: `City ${night}`, ...rowOf(night) };
    await audience.bulk([item], upsert, {
      checkpoint,
      key: () => "row",
      stopWhen: () => false,
      ...(isCurrent && { isCurrent }),
    });
    sizes.push(checkpoint.lines.join("\n").length);
  }

  // It may hold what must not be forgotten of some earlier nights, and is rewritten when it has doubled.
  const early = Math.max(...sizes.slice(12, 24));
  const late = Math.max(...sizes.slice(24));
  expect(late).toBeLessThanOrEqual(early * 1.05);
});
