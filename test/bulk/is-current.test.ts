import { ConfigurationError, RateLimiter, type BulkRequest, type V1Contact } from "audience-sdk";
import { describe, expect, it, vi } from "vitest";
import { collectRun, LoggedCheckpoint, row, rows, createFixture, until, type Row, key } from "./fixture.ts";

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

  it("with a checkpoint, a superseded row stays superseded in later runs until its consent changes", async () => {
    const { audience, upsert, mock } = createFixture();
    const checkpoint = new LoggedCheckpoint();
    const night = async (item: Row & { first_name?: string }, isCurrent: boolean) => {
      const run = audience.bulk([item], upsert, { key, checkpoint, isCurrent: () => isCurrent });
      return (await collectRun(run)).results[0]?.status;
    };

    const nights = [
      await night(row(0), false),
      await night(row(0), true),
      await night({ ...row(0), first_name: "Ada" }, true),
      await night({ ...row(0), email_opt_in: "NON_SUBSCRIBED" }, true),
    ];

    expect(nights).toEqual(["superseded", "superseded", "superseded", "succeeded"]);
    expect(mock.requests).toHaveLength(1);
  });

  it("with a checkpoint, a superseded row is sent again when one of its consents has changed", async () => {
    const { audience, mock } = createFixture();
    const checkpoint = new LoggedCheckpoint();
    const contact = { email: "ada@example.com", email_opt_in: "SUBSCRIBED", phone: "+15550100" } as const;
    const call = (item: V1Contact, request: BulkRequest) => audience.v1.customers.upsert(item, request);
    const options = { checkpoint, key: () => contact.email };
    const before = { ...contact, phone_opt_in: "SUBSCRIBED" } as const;

    const nights = [
      await audience.bulk([before], call, { ...options, isCurrent: () => false }),
      await audience.bulk([{ ...contact, phone_opt_in: "UNSUBSCRIBED" } as const], call, options),
    ];

    expect(nights).toMatchObject([{ superseded: 1 }, { succeeded: 1 }]);
    expect(mock.requests).toHaveLength(1);
  });

  it("its error is the row's error: the row is not sent, and the next run tries it again", async () => {
    const { audience, upsert, mock } = createFixture();
    const checkpoint = new LoggedCheckpoint();
    const failure = new TypeError("the database is away");
    const isCurrent = () => {
      throw failure;
    };

    const { results, error } = await collectRun(
      audience.bulk(rows(1), upsert, { key, checkpoint, isCurrent }),
    );

    expect([error, results[0]?.status, results[0]?.error]).toEqual([undefined, "failed", failure]);
    expect([mock.requests, [...checkpoint.states]]).toEqual([[], [[row(0).email, "failed"]]]);
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

  it("a row that was not current is not asked again until its consent changes, whatever else changed", async () => {
    const { audience, upsert, mock } = createFixture();
    const checkpoint = new LoggedCheckpoint();
    await collectRun(audience.bulk(rows(1), upsert, { key, checkpoint, isCurrent: () => false }));
    const changed = { ...row(0), first_name: "Ada" };
    const isCurrent = vi.fn(() => true);

    const { results } = await collectRun(audience.bulk([changed], upsert, { key, checkpoint, isCurrent }));

    expect(results.map(({ status }) => status)).toEqual(["superseded"]);
    expect(isCurrent).not.toHaveBeenCalled();
    expect(mock.requests).toEqual([]);
  });

  it("after a crash during the call the row is asked again", async () => {
    const { audience, upsert, mock } = createFixture();
    const checkpoint = new LoggedCheckpoint();
    const { isCurrent, wasCalled } = neverSettles();
    const crashed = createFixture({}, mock.clientOptions);
    void collectRun(crashed.audience.bulk(rows(1), crashed.upsert, { key, checkpoint, isCurrent }));
    await until(wasCalled);

    const { results } = await collectRun(
      audience.bulk(rows(1), upsert, { key, checkpoint, isCurrent: () => false }),
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
