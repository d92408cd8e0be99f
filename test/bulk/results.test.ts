import {
  AudienceClient,
  type BulkRequest,
  ConfigurationError,
  isAudienceError,
  ValidationError,
} from "audience-sdk";
import { describe, expect, it, onTestFinished } from "vitest";
import { failureOf } from "../transport/failure.ts";
import { collectRun, createFixture, key, row, type Row, rows } from "./fixture.ts";
import { MemoryCheckpoint } from "./memory-checkpoint.ts";

describe("Each row has one result", () => {
  it("with its index, its key, the row and the value of its call", async () => {
    const { audience, upsert, emails } = createFixture();

    const { results } = await collectRun(audience.bulk(rows(3), upsert, { key: ({ email }) => email }));

    expect(results.toSorted((a, b) => a.index - b.index)).toEqual(
      rows(3).map((item, index) => ({
        index,
        key: item.email,
        item,
        status: "succeeded",
        value: expect.objectContaining({ type: "profile" }),
      })),
    );
    expect(emails()).toEqual(rows(3).map(({ email }) => email));
  });

  it("named by its index where no key is given", async () => {
    const { audience, upsert } = createFixture();

    const { results } = await collectRun(audience.bulk(rows(2), upsert, { concurrency: 1 }));

    expect(results.map((result) => result.key)).toEqual(["0", "1"]);
  });

  it("invalid, and not sent, where the row breaks a rule", async () => {
    const { audience, mock, upsert } = createFixture();

    const { results, error } = await collectRun(
      audience.bulk([row(0), { ...row(1), email: "nobody" }, row(2)], upsert),
    );

    const invalid = results.find(({ index }) => index === 1);
    expect(invalid).toMatchObject({ status: "invalid", error: expect.any(ValidationError) });
    expect(error).toBeUndefined();
    expect(mock.requests).toHaveLength(2);
  });

  it.each([
    ["400", "failed", "not-applied"],
    ["500", "unknown", "unknown"],
  ])("failed or unknown, by the outcome of the error: %s", async (fault, status, outcome) => {
    const { audience, upsert } = createFixture(
      fault === "500" ? { faults: [{ kind: "500-before", times: 1 }] } : {},
      { maxRetries: 0 },
    );
    const call = (item: ReturnType<typeof row>, request: BulkRequest) =>
      fault === "500" ? upsert(item, request) : audience.v1.contactGroups.get("no-such-list", request);

    const { results, error } = await collectRun(audience.bulk(rows(1), call));

    // A 404 of a read ends its row only.
    expect(results).toMatchObject([{ status, error: { outcome } }]);
    expect(error).toBeUndefined();
  });

  it("failed, where its function throws, at once or later", async () => {
    const { audience } = createFixture();
    const thrown = new TypeError("no such thing");
    const call = ({ email }: { email: string }) => {
      if (email === "row-0@example.com") throw thrown;
      return Promise.reject(thrown);
    };

    const { results, error } = await collectRun(audience.bulk(rows(2), call));

    expect(results).toMatchObject([
      { status: "failed", error: thrown },
      { status: "failed", error: thrown },
    ]);
    expect(error).toBeUndefined();
  });

  it("unknown, where its function rejects with an error of another client whose outcome is unknown", async () => {
    const { audience } = createFixture();
    const other = createFixture({ faults: [{ kind: "reset-after", times: 1 }] }, { maxRetries: 0 });
    const call = ({ email }: { email: string }) =>
      other.audience.v1.customers.upsert({ email, double_opt_in: true });

    const { results } = await collectRun(audience.bulk(rows(1), call, { stopWhen: () => false }));

    expect(results).toMatchObject([{ status: "unknown", error: { outcome: "unknown" } }]);
  });

  it("invalid, where a getter of the row throws", async () => {
    const { audience, upsert } = createFixture();
    const hostile = Object.defineProperty(row(0), "email", {
      enumerable: true,
      get() {
        throw new Error("not today");
      },
    });

    const { results, error } = await collectRun(audience.bulk([hostile, row(1)], upsert));

    expect(results.map(({ status }) => status)).toEqual(["invalid", "succeeded"]);
    expect(error).toBeUndefined();
  });
});

describe("The summary", () => {
  const expected = {
    total: 3,
    succeeded: 2,
    invalid: 1,
    failed: 0,
    unknown: 0,
    skipped: 0,
    superseded: 0,
    durationMs: expect.any(Number),
  };
  const three = () => [row(0), { ...row(1), email: "nobody" }, row(2)];

  it("executes the run where it is not iterated", async () => {
    const { audience, upsert, emails } = createFixture();

    expect(await audience.bulk(three(), upsert).summary()).toEqual(expected);
    expect(emails()).toEqual([row(0).email, row(2).email]);
  });

  it.each([
    ["executes the run", false],
    ["comes after the loop", true],
  ])("is the value of an awaited run: it %s", async (_, isIterated) => {
    const { audience, mock, upsert } = createFixture();
    const run = audience.bulk(three(), upsert);
    if (isIterated) await collectRun(run);

    expect(await run).toEqual(expected);
    expect(mock.requests).toHaveLength(2);
  });

  it("comes after the loop", async () => {
    const { audience, upsert } = createFixture();
    const run = audience.bulk(three(), upsert);

    const { results } = await collectRun(run);

    expect(results).toHaveLength(3);
    expect(await run.summary()).toEqual(expected);
  });

  it("may be requested before the loop, which still gets every result", async () => {
    const { audience, upsert } = createFixture();
    const run = audience.bulk(three(), upsert);

    const [summary, { results }] = await Promise.all([run.summary(), collectRun(run)]);

    expect(results).toHaveLength(3);
    expect(summary).toEqual(expected);
  });

  it("of a run that ends with an error is that error, as for who awaits the run", async () => {
    const { audience, upsert } = createFixture({}, { apiKey: "wrong-key" });
    const run = audience.bulk(three(), upsert);

    await expect(run).rejects.toMatchObject({ code: "authentication" });
    await expect(run.summary()).rejects.toMatchObject({ code: "authentication" });
  });

  it("is the same on each request", async () => {
    const { audience, mock, upsert } = createFixture();
    const run = audience.bulk(three(), upsert);

    const summaries = await Promise.all([run.summary(), run.summary()]);

    expect([...summaries, await run.summary()]).toEqual([expected, expected, expected]);
    expect(mock.requests).toHaveLength(2);
  });

  it("of a loop that was left early covers the rows that had ended", async () => {
    const { audience, upsert, emails } = createFixture();
    const run = audience.bulk(rows(100), upsert, { concurrency: 3 });

    for await (const _ of run) break;

    const { total, succeeded } = await run.summary();
    expect(succeeded).toBe(emails().length);
    expect(total).toBeLessThanOrEqual(4);
  });
});

describe("A run", () => {
  it("sends nothing until it is iterated or its summary is requested", async () => {
    const { audience, upsert, mock } = createFixture();
    let isBegun = false;
    const source = {
      [Symbol.iterator]() {
        isBegun = true;
        return rows(1)[Symbol.iterator]();
      },
    };

    const run = audience.bulk(source, upsert);
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect({ isBegun, requests: mock.requests.length }).toEqual({ isBegun: false, requests: 0 });

    await run.summary();
    expect({ isBegun, requests: mock.requests.length }).toEqual({ isBegun: true, requests: 1 });
  });

  it("can be iterated once", async () => {
    const { audience, upsert, mock } = createFixture();
    const run = audience.bulk(rows(2), upsert);
    await run.summary();

    expect((await collectRun(run)).error).toEqual(new ConfigurationError("A bulk run is iterated once."));
    expect(mock.requests).toHaveLength(2);
  });

  it.each([
    [{ concurrency: 0 }, /concurrency/],
    [{ concurency: 2 }, /concurrency/],
    [{ total: -1 }, /total/],
    [{ key: "email" }, /key/],
    [{ signal: {} }, /signal/],
    [{ checkpoint: {} }, /checkpoint must be a Checkpoint, such as fileCheckpoint/],
    [{ checkpoint: { open: "import.ckpt" } }, /checkpoint must be a Checkpoint, such as fileCheckpoint/],
    [{ checkpoint: "import.ckpt" }, /checkpoint must be a Checkpoint, such as fileCheckpoint/],
    [{ checkpoint: null }, /checkpoint must be a Checkpoint, such as fileCheckpoint/],
    [null, /options of bulk/],
  ])("refuses and names invalid options: %j", (options, message) => {
    const { audience, upsert } = createFixture();

    expect(() => audience.bulk(rows(1), upsert, options as never)).toThrow(message);
    expect(() => audience.bulk(rows(1), upsert, options as never)).toThrow(ConfigurationError);
  });

  it("refuses rows that cannot be iterated, and a call that is no function", () => {
    const { audience, upsert } = createFixture();

    const notIterable = (what: string) =>
      new ConfigurationError(`The rows of bulk must be an array or another iterable, not ${what}.`);
    expect(() => audience.bulk({ length: 3 } as never, upsert)).toThrow(notIterable("an object"));
    expect(() => audience.bulk("abc" as never, upsert as never)).toThrow(notIterable("a string"));
    expect(() => audience.bulk(Promise.resolve([]) as never, upsert)).toThrow(
      notIterable("a Promise: await it"),
    );
    const generator = function* () {};
    expect(() => audience.bulk(generator as never, upsert)).toThrow(
      notIterable("a function: call it, as in rows()"),
    );
    expect(() => audience.bulk(rows(1), undefined as never)).toThrow(
      new ConfigurationError("The call of bulk must be a function, not undefined."),
    );
  });
});

describe("The request", () => {
  it("carries the run's signal, the last priority and the row's key", async () => {
    const { audience } = createFixture();
    const seen: BulkRequest[] = [];

    await audience
      .bulk(rows(1), async (_, request) => void seen.push(request), { key: ({ email }) => email })
      .summary();

    expect(seen).toMatchObject([{ priority: 9, signal: expect.any(AbortSignal) }]);
    expect(seen[0]?.key).toBe("row-0@example.com");
  });

  it("can be spread into other options", async () => {
    const { audience, mock } = createFixture({ faults: [{ kind: "500-before", times: 1 }] });
    const call = (item: ReturnType<typeof row>, request: BulkRequest) =>
      audience.v1.customers.upsert(item, { ...request, maxRetries: 0 });

    const { results } = await collectRun(audience.bulk(rows(2), call, { concurrency: 1 }));

    expect(results.map(({ status }) => status)).toEqual(["unknown", "succeeded"]);
    expect(mock.requests).toHaveLength(2);
  });

  it("makes a row wait longer than the client's maxWaitMs", async () => {
    const mock = createFixture().mock;
    const audience = new AudienceClient({
      ...mock.clientOptions,
      rateLimiter: { windows: [{ limit: 1, intervalMs: 30 }], maxWaitMs: 0 },
      deadlineMs: 40,
    });
    const call = (item: ReturnType<typeof row>, request: BulkRequest) =>
      audience.v1.customers.upsert(item, request);

    expect(await audience.bulk(rows(4), call).summary()).toMatchObject({ succeeded: 4 });
  });
});

it("An async check, key or stopWhen is refused, and its rejection is handled", async () => {
  const failing = (() => Promise.reject(new Error("later"))) as unknown;
  const unhandled: unknown[] = [];
  const record = (reason: unknown) => void unhandled.push(reason);
  process.on("unhandledRejection", record);
  onTestFinished(() => void process.off("unhandledRejection", record));
  const { audience } = createFixture();

  const checked = audience.bulk.check([1], failing as () => { success: true });
  expect(await failureOf(checked)).toBeInstanceOf(ConfigurationError);

  const fail = () => Promise.reject(new TypeError("the row fails"));
  const named = audience.bulk([1], fail, { key: failing as () => string });
  expect(await named.summary()).toMatchObject({ invalid: 1 });
  const stopped = audience.bulk([1], fail, { stopWhen: failing as () => boolean });
  expect(await failureOf(stopped.summary())).toBeInstanceOf(ConfigurationError);

  await new Promise((resolve) => setImmediate(resolve));
  expect(unhandled).toEqual([]);
});

/** A run whose function catches what its writes reject with, and a later run of the same rows without faults. */
async function runTwice(
  { audience }: ReturnType<typeof createFixture>,
  send: (item: Row, request: BulkRequest) => Promise<unknown>,
) {
  const checkpoint = new MemoryCheckpoint();
  const settle = (item: Row, request: BulkRequest) => Promise.allSettled([send(item, request)]);
  // Its key is another one in the later run.
  const options = { key, checkpoint, organization: "acme", concurrency: 1 };
  const first = await collectRun(audience.bulk(rows(2), settle, options));
  const later = createFixture();
  const { results } = await collectRun(later.audience.bulk(rows(2), later.upsert, options));
  return {
    first,
    ends: first.results.map(({ status }) => status),
    later: results.map(({ status }) => status),
  };
}

it.each([
  ["500-before", "unknown", "server"],
  ["redirect", "failed", "redirect"],
] as const)(
  "A row whose function catches a %s has failed, and the next run sends it",
  async (kind, status, code) => {
    const fixture = createFixture({ faults: [{ kind, times: 1 }] }, { maxRetries: 0 });

    const { first, ends, later } = await runTwice(fixture, fixture.upsert);

    expect(ends).toEqual([status, "succeeded"]);
    expect(first.results[0]!.error).toMatchObject({ code });
    expect(later).toEqual(["succeeded", "skipped"]);
  },
);

it("A row whose function catches that its contact is wrong is invalid", async () => {
  const fixture = createFixture();

  const { ends, later } = await runTwice(fixture, (item, request) =>
    fixture.upsert({ ...item, email: item.email.replace("row-0@", "row 0@") }, request),
  );

  expect(ends).toEqual(["invalid", "succeeded"]);
  expect(later).toEqual(["succeeded", "skipped"]);
});

it.each([
  ["a wrong key", { apiKey: "wrong-key" }, undefined, "authentication"],
  ["a wait of over an hour", {}, { kind: "429", retryAfter: 4_000 }, "rate_limit"],
] as const)(
  "A row whose function catches %s ends the run, and the next run sends it",
  async (_, options, fault, code) => {
    const fixture = createFixture({ faults: fault ? [fault] : [] }, options);

    const { first, ends, later } = await runTwice(fixture, fixture.upsert);

    expect(first.error).toMatchObject({ code });
    expect(ends).toEqual(["failed"]);
    expect(later).toEqual(["succeeded", "succeeded"]);
  },
);

it("A row whose function catches that its only write is wrong is invalid, also after a read", async () => {
  const fixture = createFixture();

  const { ends } = await runTwice(fixture, async (item, request) => {
    await fixture.audience.v1.customers.list({}, request);
    await fixture.upsert({ ...item, email: item.email.replace("row-0@", "row 0@") }, request);
  });

  expect(ends).toEqual(["invalid", "succeeded"]);
});

it("A row whose function catches a wait of over an hour after another write has failed", async () => {
  const fixture = createFixture({
    faults: [{ kind: "429", retryAfter: 4_000, operation: "v1.events.send" }],
  });

  const { first, ends } = await runTwice(fixture, async (item, request) => {
    await fixture.upsert(item, request);
    await fixture.audience.v1.events.send(
      { eventName: "signed_up", contact: { email: item.email } },
      request,
    );
  });

  expect(first.error).toMatchObject({ code: "rate_limit" });
  expect(ends).toEqual(["failed"]);
  expect(fixture.emails()).toEqual(["row-0@example.com"]);
  expect(fixture.mock.organization("mock-organization").events).toEqual([]);
});

it("A row whose function catches the wait of a read after its write has succeeded", async () => {
  const wait = { kind: "429", retryAfter: 4_000, operation: "v1.customers.list" } as const;
  const fixture = createFixture({ faults: [wait] });

  const { first, ends, later } = await runTwice(fixture, async (item, request) => {
    await fixture.upsert(item, request);
    await fixture.audience.v1.customers.list({}, request);
  });

  expect(first.error).toBeUndefined();
  expect(ends).toEqual(["succeeded", "succeeded"]);
  expect(later).toEqual(["skipped", "skipped"]);
});

it("A row whose function writes again after a failure has succeeded", async () => {
  const fixture = createFixture({ faults: [{ kind: "redirect", times: 1 }] });

  const { ends, later } = await runTwice(fixture, (item, request) =>
    fixture.upsert(item, request).catch(() => fixture.upsert(item, request)),
  );

  expect(ends).toEqual(["succeeded", "succeeded"]);
  expect(later).toEqual(["skipped", "skipped"]);
});

it("A row is unknown if its isCurrent throws after an attempt that may have been applied", async () => {
  const { audience, upsert, mock } = createFixture({ faults: [{ kind: "500-after", times: 1 }] });
  let asked = 0;
  const isCurrent = () => {
    if (asked++ > 0) throw new Error("the database is gone");
    return true;
  };

  const { results } = await collectRun(audience.bulk(rows(1), upsert, { isCurrent }));

  expect(results).toMatchObject([{ status: "unknown", error: { message: "the database is gone" } }]);
  expect(mock.organization("mock-organization").contacts).toHaveLength(1);
});

it("A row is unknown if its function wraps the error of a call with an unknown outcome", async () => {
  const { audience, mock } = createFixture({ faults: [{ kind: "500-after" }] });
  const wrap = async (item: Row, request: BulkRequest) => {
    try {
      await audience.v1.customers.upsert(item, { ...request, maxRetries: 0 });
    } catch (cause) {
      throw new Error("my own", { cause });
    }
  };

  const { results } = await collectRun(audience.bulk(rows(1), wrap));

  expect(results).toMatchObject([{ status: "unknown", error: { message: "my own" } }]);
  expect(mock.organization("mock-organization").contacts).toHaveLength(1);
});

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

it("a row that needs no call is asked for again by the next run", async () => {
  const { audience, mock, upsert } = createFixture();
  const checkpoint = new MemoryCheckpoint();
  const call = async (item: Row, request: BulkRequest) =>
    item.email_opt_in === "SUBSCRIBED" ? undefined : await upsert(item, request);
  const items: Row[] = [row(0), { ...row(1), email_opt_in: "UNSUBSCRIBED" }];

  const nights = [1, 2].map(() => audience.bulk(items, call, { checkpoint, key }));

  expect([await nights[0], await nights[1]]).toMatchObject([{ succeeded: 2 }, { succeeded: 1, skipped: 1 }]);
  expect(mock.requests).toHaveLength(1);
});

it("a row that only reads is recorded, and skipped by the next run", async () => {
  const { audience, mock } = createFixture();
  const checkpoint = new MemoryCheckpoint();
  const read = (_: Row, request: BulkRequest) => audience.v1.customers.list({}, request);

  await audience.bulk([row(0)], read, { checkpoint, key });
  const second = await audience.bulk([row(0)], read, { checkpoint, key });

  expect(second).toMatchObject({ skipped: 1 });
  expect(mock.requests).toHaveLength(1);
});
