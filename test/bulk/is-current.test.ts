import { ConfigurationError, isAudienceError, RateLimiter, type BulkRequest } from "audience-sdk";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  collectRun,
  row,
  rows,
  createFixture,
  until,
  type Row,
  key,
  passUntilSettled,
  useFakeTime,
} from "./fixture.ts";
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
  it("is asked once the row has its permit, right before it is sent, and once more after the response", async () => {
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

    expect(asked).toEqual(["row-0@example.com, 0 sent", "row-0@example.com, 1 sent"]);
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
    expect(results[1]).toMatchObject({
      reason: "not-current",
      error: {
        outcome: "not-sent",
        message: "isCurrent returned false: the row was not sent, or not sent again.",
      },
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

  it("is asked before and after each write of a row, and for no read", async () => {
    const { audience } = createFixture();
    let asked = 0;
    const call = async (item: Row, request: BulkRequest) => {
      const { id } = await audience.v1.customers.upsert(item, request);
      await audience.v1.customers.get(id, request);
      await audience.v1.events.send({ eventName: "imported", contact: { email: item.email } }, request);
    };

    await audience.bulk(rows(1), call, { isCurrent: () => ++asked > 0 });

    expect(asked).toBe(4);
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

describe("isCurrent after the response", () => {
  /** Answers in turn. */
  const answers = (...given: boolean[]) => {
    return () => given.shift() ?? true;
  };

  it.each([
    ["a row", {}],
    ["a row that must not be repeated", { double_opt_in: true }],
  ])(
    "false makes %s superseded, though the service has it, and the next run sends it whatever it says",
    async (_, more) => {
      const { audience, upsert, mock } = createFixture();
      const options = { key, checkpoint: new MemoryCheckpoint() };
      const item: Row = { ...row(7), ...more };

      const { results, error } = await collectRun(
        audience.bulk([item], upsert, { ...options, isCurrent: answers(true, false) }),
      );

      expect(error).toBeUndefined();
      const message = "isCurrent returned false after the row was sent: the service has it.";
      expect(results).toMatchObject([
        {
          status: "superseded",
          reason: "not-current",
          error: { code: "aborted", outcome: "applied", message },
        },
      ]);
      expect(mock.organization("mock-organization").contacts).toHaveLength(1);
      const next = await audience.bulk([item], upsert, { ...options, isCurrent: () => true });
      expect(next).toMatchObject({ succeeded: 1 });
    },
  );

  it("makes the record of an earlier night void: a row that changes back is sent", async () => {
    const { audience, upsert, mock } = createFixture();
    const options = { key, checkpoint: new MemoryCheckpoint() };
    const left: Row = { ...row(7), email_opt_in: "UNSUBSCRIBED" };
    await audience.bulk([left], upsert, options);

    // The person leaves again while the row is on its way.
    const second = await audience.bulk([row(7)], upsert, { ...options, isCurrent: answers(true, false) });
    const third = await audience.bulk([left], upsert, options);

    expect([second, third]).toMatchObject([{ superseded: 1 }, { succeeded: 1 }]);
    expect(mock.organization("mock-organization").contacts).toMatchObject([{ email_opt_in: "UNSUBSCRIBED" }]);
  });

  it("whose error is the row's, and the next run sends the row", async () => {
    const { audience, upsert, mock } = createFixture();
    const options = { key, checkpoint: new MemoryCheckpoint() };
    const failure = new TypeError("the database is away");
    let asked = 0;
    const isCurrent = () => {
      if (++asked === 2) throw failure;
      return true;
    };

    const { results } = await collectRun(audience.bulk([row(7)], upsert, { ...options, isCurrent }));

    expect(results).toMatchObject([{ status: "unknown", error: failure }]);
    expect(mock.requests).toHaveLength(1);
    expect(await audience.bulk([row(7)], upsert, { ...options, isCurrent })).toMatchObject({ succeeded: 1 });
  });

  it("that never settles does not hold up the end of the run, and the next run sends the row", async () => {
    const { audience, upsert, mock } = createFixture();
    const checkpoint = new MemoryCheckpoint();
    const stop = new AbortController();
    let asked = 0;
    const isCurrent = () => (++asked === 1 ? true : new Promise<boolean>(() => {}));
    const ended = collectRun(
      audience.bulk([row(7)], upsert, { key, checkpoint, isCurrent, signal: stop.signal }),
    );
    await until(() => asked === 2);

    stop.abort();

    const { results, error } = await ended;
    expect(error).toMatchObject({ code: "aborted" });
    const message = "The run was aborted, and isCurrent has not answered since.";
    expect(results).toMatchObject([{ error: { code: "aborted", message, outcome: "applied" } }]);
    expect(mock.requests).toHaveLength(1);
    expect(await audience.bulk([row(7)], upsert, { key, checkpoint })).toMatchObject({ succeeded: 1 });
  });

  it("a person who leaves by another process while the row is on its way is no success of the row", async () => {
    const { audience, upsert, mock } = createFixture();
    const table = { isSubscribed: true };
    const slow = audience.withOptions({
      fetch: async (url, init) => {
        // The website's process is faster.
        table.isSubscribed = false;
        await mock.fetch(url, { ...init, body: JSON.stringify({ ...row(7), email_opt_in: "UNSUBSCRIBED" }) });
        return await mock.fetch(url, init);
      },
    });

    const { results } = await collectRun(
      audience.bulk([row(7)], (item, request) => slow.v1.customers.upsert(item, request), {
        isCurrent: () => table.isSubscribed,
      }),
    );

    expect(results).toMatchObject([
      { status: "superseded", reason: "not-current", error: { outcome: "applied" } },
    ]);
    expect(await audience.bulk([{ ...row(7), email_opt_in: "UNSUBSCRIBED" } as Row], upsert)).toMatchObject({
      succeeded: 1,
    });
  });
});

it("What isCurrent refused is not recorded: the next run judges the row afresh, by what it was before", async () => {
  const { audience, upsert, mock } = createFixture();
  const options = { key, checkpoint: new MemoryCheckpoint(), checkConsent: false };
  const night = (first_name: string, answer: boolean) =>
    audience.bulk([{ ...row(7), first_name }], upsert, { ...options, isCurrent: () => answer });

  const refused = await night("Ada", false);
  const nights = [await night("Ada", true), await night("Ada L.", false), await night("Ada", true)];

  expect([refused, ...nights]).toMatchObject([
    { superseded: 1 },
    { succeeded: 1 },
    { superseded: 1 },
    { skipped: 1 },
  ]);
  expect(mock.requests).toHaveLength(1);
});

it("A row stays in doubt if a call that must not be repeated may have been applied, and isCurrent then says no", async () => {
  const { audience, mock } = createFixture({ faults: [{ kind: "500-after", times: 1 }] }, { maxRetries: 0 });
  const checkpoint = new MemoryCheckpoint();
  const call = async (item: Row, request: BulkRequest) => {
    await audience.v1.customers.upsert({ ...item, double_opt_in: true }, request).catch(() => undefined);
    await audience.v1.customers.upsert({ ...item, email: "other@example.com" }, request);
  };
  const answers = [true, false];
  const isCurrent = () => answers.shift() ?? false;

  const first = await audience.bulk([row(7)], call, { key, checkpoint, isCurrent });
  const next = await audience.bulk([row(7)], call, { key, checkpoint });

  expect([first, next]).toMatchObject([{ unknown: 1 }, { unknown: 1 }]);
  expect(mock.requests.filter(({ method }) => method === "POST")).toHaveLength(1);
});

describe("The answer of isCurrent is at most a second old when the row is sent", () => {
  beforeEach(useFakeTime);
  afterEach(() => void vi.useRealTimers());

  const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

  /** The ages of the answers with which requests left, of an `isCurrent` that takes a while. */
  async function agesOf(world: ReturnType<typeof createFixture>, takesMs: number, count = 1) {
    const asked = new Map<string, number>();
    const ages: number[] = [];
    const audience = world.audience.withOptions({
      fetch: async (url, init) => {
        const { email } = JSON.parse(init.body as string) as Row; // Safe: the row's
        ages.push(performance.now() - asked.get(email)!);
        return await world.mock.fetch(url, init);
      },
    });
    const isCurrent = async ({ email }: Row) => {
      const now = performance.now();
      await sleep(takesMs);
      asked.set(email, now);
      return true;
    };
    const run = collectRun(
      audience.bulk(rows(count), (item, request) => audience.v1.customers.upsert(item, request), {
        isCurrent,
      }),
    );
    const { results } = await passUntilSettled(run);
    expect(results.map(({ status }) => status)).toEqual(rows(count).map(() => "succeeded"));
    return ages;
  }

  it.each([
    ["a retry", { kind: "500-before", times: 2 }],
    ["a requeue after a 429", { kind: "429", times: 2, retryAfter: 3 }],
  ] as const)("also of %s", async (_, fault) => {
    const ages = await agesOf(createFixture({ faults: [fault] }), 300);

    expect(ages).toHaveLength(3);
    expect(Math.max(...ages)).toBeLessThanOrEqual(1_000);
  });

  it("also if it waits for permits", async () => {
    const windows = [
      { limit: 1, intervalMs: 1_500 },
      { limit: 10, intervalMs: 60_000 },
    ];
    const rateLimiter = new RateLimiter({ windows, reserve: 0 });

    const ages = await agesOf(createFixture({}, { rateLimiter }), 300, 15);

    expect(ages).toHaveLength(15);
    expect(Math.max(...ages)).toBeLessThanOrEqual(1_000);
  });

  it("or the row fails, if it takes over a second three times, and a line says so", async () => {
    const lines: string[] = [];
    const { audience, upsert, mock } = createFixture({}, { logger: { warn: (line) => lines.push(line) } });
    let asked = 0;
    const isCurrent = async () => {
      asked += 1;
      await sleep(1_100);
      return true;
    };

    const run = collectRun(audience.bulk(rows(1), upsert, { isCurrent }));

    expect((await passUntilSettled(run)).results).toMatchObject([
      { status: "failed", error: { code: "timeout", outcome: "not-sent", timeoutMs: 1_000 } },
    ]);
    expect([asked, mock.requests]).toEqual([3, []]);
    expect(lines).toEqual([expect.stringContaining("isCurrent took over a second, three times")]);
  });

  it.each([
    ["throws", () => Promise.reject(new Error("database down"))],
    ["is late three times", () => sleep(1_100).then(() => true)],
  ])(
    "or, if it %s at the second write of a row, the row fails, also where its function catches that",
    async (_, second) => {
      const { audience, upsert, mock } = createFixture();
      let writes = 0;
      const isCurrent = async () => (writes === 1 ? true : await second());
      const twice = async (item: Row, request: BulkRequest) => {
        writes = 1;
        await upsert(item, request);
        writes = 2;
        await upsert({ ...item, email: "second@example.com" }, request).catch(() => undefined);
      };

      const { results } = await passUntilSettled(collectRun(audience.bulk(rows(1), twice, { isCurrent })));

      expect(results.map(({ status }) => status)).toEqual(["failed"]);
      expect(mock.requests).toHaveLength(1);
    },
  );

  it("and one that is late once is asked again", async () => {
    const { audience, upsert, mock } = createFixture();
    let asked = 0;
    const isCurrent = async () => {
      asked += 1;
      await sleep(asked < 3 ? 1_100 : 10);
      return true;
    };

    const run = collectRun(audience.bulk(rows(1), upsert, { isCurrent }));

    expect((await passUntilSettled(run)).results).toMatchObject([{ status: "succeeded" }]);
    expect([asked, mock.requests.length]).toEqual([4, 1]);
  });
});
