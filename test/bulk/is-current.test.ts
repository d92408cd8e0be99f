import { ConfigurationError, isAudienceError, RateLimiter, type BulkRequest } from "audience-sdk";
import { describe, expect, it } from "vitest";
import { collectRun, row, rows, createFixture, until, type Row, key } from "./fixture.ts";
import { MemoryCheckpoint } from "./memory-checkpoint.ts";

/** An `isCurrent` that never settles, and whether it was called. */
function neverSettles() {
  let asked = 0;
  const isCurrent = () => {
    asked++;
    return new Promise<boolean>(() => {});
  };
  return { isCurrent, wasCalled: () => asked === 1 };
}

describe("isCurrent", () => {
  it("is called once the row has its permit, right before it is sent", async () => {
    const rateLimiter = new RateLimiter({ windows: [{ limit: 1, intervalMs: 60_000 }] });
    const { audience, upsert, mock } = createFixture({}, { rateLimiter });
    const asked: string[] = [];
    const stop = new AbortController();
    const isCurrent = async (item: Row) => {
      asked.push(`${item.email}, ${mock.requests.length} sent`);
      return true;
    };
    const ended = collectRun(audience.bulk(rows(3), upsert, { isCurrent, signal: stop.signal }));
    await until(() => mock.requests.length === 1 && rateLimiter.usage().queued === 2);

    stop.abort();
    await ended;

    expect(asked).toEqual(["row-0@example.com, 0 sent"]);
  });

  it("is asked for a call whose options lack `request`, too", async () => {
    const { audience, mock } = createFixture();
    const call = (item: Row) => audience.v1.customers.upsert(item, { timeoutMs: 1_000 });

    expect(await audience.bulk(rows(1), call, { isCurrent: () => false })).toMatchObject({ superseded: 1 });
    expect(mock.requests).toEqual([]);
  });

  it("false makes the row superseded: it is not sent, its permit is released, and the run continues", async () => {
    const rateLimiter = new RateLimiter({ windows: [{ limit: 2, intervalMs: 60_000 }], reserve: 0 });
    const { audience, upsert, mock, emails } = createFixture({}, { rateLimiter });
    const isCurrent = ({ email }: Row) => email !== row(1).email;

    const { results, error } = await collectRun(
      audience.bulk(rows(3), upsert, { isCurrent, concurrency: 1, stopWhen: () => true }),
    );

    expect(error).toBeUndefined();
    expect(results.map(({ status }) => status)).toEqual(["succeeded", "superseded", "succeeded"]);
    expect(results[1]!.error).toMatchObject({
      message: "isCurrent returned false: the row was not sent, or not sent again.",
    });
    expect(emails()).toEqual([row(0).email, row(2).email]);
    expect(mock.requests).toHaveLength(2);
  });

  it.each([
    ["a retry", { kind: "500-before", times: 1 }],
    ["a requeue after a 429", { kind: "429", times: 1, retryAfter: 0.01 }],
  ] as const)("is called again before %s", async (_, fault) => {
    const { audience, upsert, mock } = createFixture({ faults: [fault] });
    const isCurrentResults = [true, false];

    const { results } = await collectRun(
      audience.bulk(rows(1), upsert, { isCurrent: () => isCurrentResults.shift()! }),
    );

    expect(results.map(({ status }) => status)).toEqual(["superseded"]);
    expect([mock.requests.length, isCurrentResults]).toEqual([1, []]);
    expect(mock.organization("mock-organization").contacts).toEqual([]);
  });

  it("is called before each write of a row, and before no read", async () => {
    const { audience } = createFixture();
    let asked = 0;
    const call = async (item: Row, request: BulkRequest) => {
      const { id } = await audience.v1.customers.upsert(item, request);
      await audience.v1.customers.get(id, request);
      await audience.v1.events.send({ eventName: "imported", contact: { email: item.email } }, request);
    };

    await audience.bulk(rows(1), call, { isCurrent: () => ++asked > 0 });

    expect(asked).toBe(2);
  });

  it("its error is the row's error: the row is not sent, and the next run tries it again", async () => {
    const { audience, upsert, mock } = createFixture();
    const checkpoint = new MemoryCheckpoint();
    const failure = new TypeError("the database is away");
    const isCurrent = () => {
      throw failure;
    };

    const { results, error } = await collectRun(
      audience.bulk(rows(1), upsert, { key, checkpoint, isCurrent }),
    );

    expect([error, results[0]?.status, results[0]?.error]).toEqual([undefined, "failed", failure]);
    expect(mock.requests).toEqual([]);
    expect(await audience.bulk(rows(1), upsert, { key, checkpoint })).toMatchObject({ succeeded: 1 });
  });

  it.each([
    ["nothing", undefined],
    ["a number", 1],
  ])("the run ends where it returns %s instead of a boolean", async (_, given) => {
    const { audience, upsert, mock } = createFixture();
    const isCurrent = () => given as unknown as boolean;

    const { error } = await collectRun(audience.bulk(rows(3), upsert, { isCurrent, concurrency: 1 }));

    expect(error).toBeInstanceOf(ConfigurationError);
    expect(String(error)).toContain("isCurrent must return true or false.");
    expect(mock.requests).toEqual([]);
  });

  it("one that never settles blocks its contact only until the end of the run", async () => {
    const { audience, upsert, mock } = createFixture();
    const stop = new AbortController();
    const { isCurrent, wasCalled } = neverSettles();
    const ended = collectRun(audience.bulk(rows(1), upsert, { isCurrent, signal: stop.signal }));
    await until(wasCalled);
    stop.abort();
    await ended;

    await audience.v1.customers.upsert({ ...row(0), email_opt_in: "UNSUBSCRIBED" });

    expect(mock.requests).toHaveLength(1);
  });

  it("after a crash during the call the row is asked again", async () => {
    const { audience, upsert, mock } = createFixture();
    const checkpoint = new MemoryCheckpoint();
    const { isCurrent, wasCalled } = neverSettles();
    const crashed = createFixture({}, mock.clientOptions);
    void collectRun(crashed.audience.bulk(rows(1), crashed.upsert, { key, checkpoint, isCurrent }));
    await until(wasCalled);

    const { results } = await collectRun(
      audience.bulk(rows(1), upsert, { key, checkpoint: checkpoint.copy(), isCurrent: () => false }),
    );

    expect(results.map(({ status }) => status)).toEqual(["superseded"]);
    expect(mock.requests).toEqual([]);
  });

  it("that takes long costs no permit where the run is aborted as the row gets its next one", async () => {
    const stop = new AbortController();
    let isAnswered = false;
    const clock = () => {
      // The limiter reads its clock when it gives a permit.
      if (isAnswered) stop.abort();
      return performance.now();
    };
    const rateLimiter = new RateLimiter({ clock });
    const { audience, upsert, mock } = createFixture({}, { rateLimiter });
    const isCurrent = async () => {
      // The row returns its first permit after a quarter of a second.
      await until(() => rateLimiter.usage().inFlight === 0);
      return (isAnswered = true);
    };

    await collectRun(audience.bulk(rows(1), upsert, { isCurrent, signal: stop.signal }));
    await audience.close();

    expect(mock.requests).toEqual([]);
    expect(rateLimiter.usage()).toMatchObject({ inFlight: 0, queued: 0 });
  });

  it("one that never settles does not delay an aborted run", async () => {
    const { audience, upsert, mock } = createFixture();
    const stop = new AbortController();
    const { isCurrent, wasCalled } = neverSettles();
    const ended = collectRun(audience.bulk(rows(1), upsert, { isCurrent, signal: stop.signal }));
    await until(wasCalled);

    stop.abort();

    expect(await ended).toMatchObject({ results: [], error: { code: "aborted", outcome: "not-sent" } });
    expect(mock.requests).toEqual([]);
  });
});

it.each(["500-before", "429"] as const)(
  "An isCurrent whose own call fails with a %s is asked once, and its error is the row's",
  async (kind) => {
    const { audience, upsert, mock } = createFixture({
      faults: [{ kind, operation: "v1.contactGroups.get", retryAfter: 0, times: 99 }],
    });
    const isCurrent = async () => {
      await audience.v1.contactGroups.get("mock-list", { maxRetries: 0 });
      return true;
    };

    const { results } = await collectRun(audience.bulk(rows(1), upsert, { isCurrent }));

    expect(mock.requests.map(({ operation }) => operation)).toEqual(["v1.contactGroups.get"]);
    const [result] = results;
    expect(result?.status).toBe("failed");
    expect(isAudienceError(result?.error) && result.error.request?.operation).toBe("v1.contactGroups.get");
  },
);

it.each([
  ["throws", () => Promise.reject(new Error("database down")), "database down"],
  ["returns nothing", async () => undefined as never, "isCurrent must return true or false."],
])(
  "A row whose isCurrent %s is not recorded as done, even if its function catches the error",
  async (...args) => {
    const [, isCurrent, message] = args;
    const { audience, mock } = createFixture();
    const checkpoint = new MemoryCheckpoint();
    const settle = (contact: Row, request: BulkRequest) =>
      Promise.allSettled([audience.v1.customers.upsert(contact, request)]);

    const { results } = await collectRun(audience.bulk(rows(1), settle, { key, checkpoint, isCurrent }));

    expect(results).toMatchObject([{ status: "failed", error: { message } }]);
    expect(mock.requests).toEqual([]);
    const next = createFixture();
    expect(await next.audience.bulk(rows(1), next.upsert, { key, checkpoint })).toMatchObject({
      succeeded: 1,
    });
  },
);
