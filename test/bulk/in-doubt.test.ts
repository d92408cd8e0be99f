import { type AudienceClient, type BulkRequest, RateLimiter } from "audience-sdk";
import { describe, expect, it } from "vitest";
import { failureOf } from "../transport/failure.ts";
import {
  collectRun,
  createFixture,
  deferred,
  flushEventLoop,
  key,
  row,
  type Row,
  rows,
  until,
} from "./fixture.ts";
import { MemoryCheckpoint } from "./memory-checkpoint.ts";

const optOut: Row = { ...row(0), email_opt_in: "UNSUBSCRIBED" };
const neither: Row = { ...row(0), email_opt_in: "NON_SUBSCRIBED" };

/** A row in doubt: its second mail could go out. */
async function rowInDoubt() {
  const world = createFixture({ faults: [{ kind: "reset-after", times: 1 }] });
  const options = { checkpoint: new MemoryCheckpoint(), key };
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

  const nights = [
    await audience.bulk([neither], both, options),
    await audience.bulk([neither], both, options),
  ];

  expect(nights).toMatchObject([{ unknown: 1 }, { unknown: 1 }]);
  expect(mock.requests.slice(1).map(({ body }) => body)).toEqual([neither]);
});

it("a repeatable call of a changed row in doubt whose outcome is unknown is sent again by the next run", async () => {
  const { audience, mock, options, mailed } = await rowInDoubt();
  const once = audience.withOptions({ maxRetries: 0 });
  mock.addFault({ kind: "500-before", times: 1 });
  const both = async (item: Row, request: BulkRequest) => {
    await once.v1.customers.upsert(item, request).catch(() => undefined);
    await mailed(item, request);
  };

  const nights = [
    await audience.bulk([neither], both, options),
    await audience.bulk([neither], both, options),
  ];

  expect(nights).toMatchObject([{ unknown: 1 }, { unknown: 1 }]);
  expect(mock.organization("mock-organization").contacts).toMatchObject([neither]);
});

it("a changed row that was refused as in doubt is sent once its call is repeatable", async () => {
  const { audience, mock, options, mailed, upsert } = await rowInDoubt();

  const nights = [
    await audience.bulk([neither], mailed, options),
    await audience.bulk([neither], upsert, options),
  ];

  expect(nights).toMatchObject([{ unknown: 1 }, { succeeded: 1 }]);
  expect(mock.organization("mock-organization").contacts).toMatchObject([neither]);
});

it.each([
  ["subscribes in another channel", { phone: "+15550100", phone_opt_in: "SUBSCRIBED" }],
  ["does not say so of each channel that it names", { phone: "+15550100" }],
] as const)("an opt-out that %s is not sent while its row is in doubt", async (_, more) => {
  const { audience, mock, options, mailed } = await rowInDoubt();

  expect(await audience.bulk([{ ...optOut, ...more }], mailed, options)).toMatchObject({ unknown: 1 });
  expect(mock.requests).toHaveLength(1);
});

it.each([
  ["an opt-out", {}],
  ["an opt-out that also suppresses", { is_suppressed: true }],
])("%s is sent though its row is in doubt, and ends the doubt", async (_, more) => {
  const { audience, mock, options, mailed } = await rowInDoubt();
  const left: Row = { ...optOut, ...more };

  const planned = await audience.bulk.check([left], () => ({ success: true }), options);
  const nights = [
    await audience.bulk([left], mailed, options),
    await audience.bulk([left], mailed, options),
    await audience.bulk([row(0)], mailed, options),
  ];

  expect(planned).toMatchObject({ inDoubt: 1, changed: 0 });
  expect(nights).toMatchObject([{ succeeded: 1 }, { skipped: 1 }, { succeeded: 1 }]);
  expect(mock.requests.map(({ body }) => body)).toMatchObject([row(0), left, row(0)]);
});

it("a row whose changed version has an unknown outcome is sent again each night, also when it changes back", async () => {
  const { audience, mock, options, mailed, upsert } = await rowInDoubt();
  const once = audience.withOptions({ maxRetries: 0 });
  const call = (item: Row, request: BulkRequest) => once.v1.customers.upsert(item, request);
  const both = (item: Row, request: BulkRequest) =>
    Promise.all([upsert(item, request), mailed(item, request)]);
  mock.addFault({ kind: "500-before", times: 2 });

  const nights = [
    await once.bulk([optOut], call, options),
    await once.bulk([optOut], call, options),
    await audience.bulk([row(0)], both, options),
    await audience.bulk([row(0)], both, options),
  ];

  expect(nights).toMatchObject([{ unknown: 1 }, { unknown: 1 }, { unknown: 1 }, { unknown: 1 }]);
  expect(mock.requests.slice(1).map(({ body }) => body)).toEqual([optOut, optOut, row(0)]);
});

it("a superseded version keeps the doubt: a second mail is not sent", async () => {
  const { audience, mock, options, mailed, upsert } = await rowInDoubt();

  const nights = [
    await audience.bulk([optOut], upsert, { ...options, isCurrent: () => false }),
    await audience.bulk([row(0)], mailed, options),
  ];

  expect(nights).toMatchObject([{ superseded: 1 }, { unknown: 1 }]);
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

const connectionRefused = () => {
  throw new TypeError("fetch failed", { cause: Object.assign(new Error(), { code: "ECONNREFUSED" }) });
};

it.each<[string, () => Response]>([
  ["a 400", () => new Response(null, { status: 400 })],
  ["a 401", () => new Response(null, { status: 401 })],
  [
    "a 429 that asks to wait for more than an hour",
    () => new Response(null, { status: 429, headers: { "Retry-After": "4000" } }),
  ],
  ["a refused connection", connectionRefused],
])(
  "a row whose first call may be repeated, and whose second must not be but met %s, is sent again the next night",
  async (_, refuse) => {
    let isRefused = true;
    const { mock, audience: real } = createFixture();
    const audience = real.withOptions({
      maxRetries: 0,
      fetch: async (url, init) =>
        isRefused && url.endsWith("/customer/create") ? refuse() : await mock.fetch(url, init),
    });
    const options = { checkpoint: new MemoryCheckpoint(), key };
    const call = async ({ email }: Row, request: BulkRequest) => {
      await audience.v1.events.send({ eventName: "imported", contact: { email } }, request);
      // Without `email_opt_in`.
      return await audience.v1.customers.upsert({ email, first_name: "Ada" }, request);
    };

    const first = await collectRun(audience.bulk([row(0)], call, options));
    isRefused = false;
    const nights = [
      await audience.bulk([row(0)], call, options),
      await audience.bulk([row(0)], call, options),
    ];

    expect(first.results).toMatchObject([{ status: "failed" }]);
    expect(nights).toMatchObject([{ succeeded: 1 }, { skipped: 1 }]);
    const { contacts, events } = mock.organization("mock-organization");
    expect(contacts).toMatchObject([{ first_name: "Ada" }]);
    // Its generated id is the same each night.
    expect(events).toHaveLength(1);
  },
);

describe("A row in doubt", () => {
  const mailed =
    ({ audience }: ReturnType<typeof createFixture>) =>
    (item: Row, request: BulkRequest) =>
      audience.v1.customers.upsert({ ...item, double_opt_in: true }, request);

  it("is reported by the next run, and not sent", async () => {
    const { audience, mock, options, mailed: call } = await rowInDoubt();

    const { results } = await collectRun(audience.bulk(rows(1), call, options));

    expect(results).toMatchObject([
      {
        status: "unknown",
        error: {
          outcome: "unknown",
          reason: "other",
          message:
            "Not sent: an earlier run may have carried out a call of the row that must not be repeated.",
        },
      },
    ]);
    expect(mock.requests).toHaveLength(1);
  });

  it("is not passed to stopWhen", async () => {
    const { audience, options, upsert } = await rowInDoubt();

    const { results, error } = await collectRun(
      audience.bulk(rows(2), upsert, { ...options, concurrency: 1, stopWhen: () => true }),
    );

    expect(results.map(({ status }) => status)).toEqual(["unknown", "succeeded"]);
    expect(error).toBeUndefined();
  });

  it("stays in doubt, whatever its content, while its call is not repeatable", async () => {
    const { audience, mock, options, mailed: call } = await rowInDoubt();
    const other: Row = { ...row(0), email_opt_in: "NON_SUBSCRIBED" };

    const nights: unknown[] = [];
    for (const item of [other, other, row(0)]) nights.push(await audience.bulk([item], call, options));

    expect(nights).toMatchObject([{ unknown: 1 }, { unknown: 1 }, { unknown: 1 }]);
    expect(mock.requests).toHaveLength(1);
  });

  it("is one whose first call is not repeatable, and whose function fails after it", async () => {
    const { audience, mock } = createFixture();
    const options = { checkpoint: new MemoryCheckpoint(), key };
    const call = async (item: Row, request: BulkRequest) => {
      await audience.v1.customers.upsert({ ...item, double_opt_in: true }, request);
      throw new TypeError("a mistake of the caller's own");
    };

    const first = await collectRun(audience.bulk(rows(1), call, options));
    const second = await collectRun(audience.bulk(rows(1), call, options));

    expect(first.results).toMatchObject([{ status: "unknown", error: expect.any(TypeError) }]);
    expect(second.results).toMatchObject([{ status: "unknown" }]);
    expect(mock.requests).toHaveLength(1);
  });

  it.each<[string, string, (world: ReturnType<typeof createFixture>) => AudienceClient]>([
    // The 404 of addContact may have created the contact; any other 404 has applied nothing.
    [
      "whose call was refused",
      "not-applied",
      ({ audience, mock }) =>
        audience.withOptions({
          fetch: (url, init) => mock.fetch(url.replace("customer/create", "nowhere"), init),
        }),
    ],
    [
      "that was not sent",
      "not-sent",
      ({ audience }) => audience.withOptions({ fetch: async () => connectionRefused(), maxRetries: 0 }),
    ],
  ])("is none %s: the next run sends it", async (_, outcome, clientOf) => {
    const world = createFixture();
    const options = { checkpoint: new MemoryCheckpoint(), key };

    const first = await collectRun(
      world.audience.bulk(rows(1), mailed({ ...world, audience: clientOf(world) }), options),
    );
    const second = await world.audience.bulk(rows(1), mailed(world), options);

    expect(first.results).toMatchObject([{ status: "failed", error: { outcome } }]);
    expect(second).toMatchObject({ succeeded: 1 });
    expect(world.mock.organization("mock-organization").contacts).toHaveLength(1);
  });

  it("is one after the 404 of addContact, which may have created the contact", async () => {
    const { audience, mock } = createFixture();
    const options = { checkpoint: new MemoryCheckpoint(), key, stopWhen: () => false };
    const call = (item: Row, request: BulkRequest) =>
      audience.v1.contactGroups.addContact("gone", item, { ...request, repeatable: false });

    const nights = [await audience.bulk(rows(1), call, options), await audience.bulk(rows(1), call, options)];

    expect(nights).toMatchObject([{ unknown: 1 }, { unknown: 1 }]);
    expect(mock.requests).toHaveLength(1);
  });
});

it.each([
  ["its signal", (_: AudienceClient, stop: AbortController) => stop.abort()],
  ["close()", (audience: AudienceClient) => void audience.close()],
])("A row whose function catches the rejection by %s is sent by the next run", async (_, end) => {
  const rateLimiter = new RateLimiter({ windows: [{ limit: 2, intervalMs: 60_000 }], reserve: 0 });
  const { audience, mock } = createFixture({}, { rateLimiter });
  const checkpoint = new MemoryCheckpoint();
  const stop = new AbortController();
  const settle = (item: Row, request: BulkRequest) =>
    Promise.allSettled([audience.v1.customers.upsert(item, request)]);
  const first = collectRun(audience.bulk(rows(5), settle, { key, checkpoint, signal: stop.signal }));
  await until(() => mock.requests.length === 2 && rateLimiter.usage().queued === 3);

  end(audience, stop);

  expect((await first).results.map(({ status }) => status)).toEqual(["succeeded", "succeeded"]);
  const next = createFixture({}, mock.clientOptions);
  const { results } = await collectRun(next.audience.bulk(rows(5), next.upsert, { key, checkpoint }));
  const done = results.map(({ status }) => status);
  expect(done).toEqual(["skipped", "skipped", "succeeded", "succeeded", "succeeded"]);
  expect(mock.organization("mock-organization").contacts).toHaveLength(5);
});

it.each(["429", "500-before", "reset-before"] as const)(
  "A row whose retry after a %s is cut off by the end of the run is sent by the next run",
  async (kind) => {
    const { audience, mock } = createFixture({ latencyMs: 50, faults: [{ kind, times: 1, retryAfter: 1 }] });
    const checkpoint = new MemoryCheckpoint();
    const stop = new AbortController();
    const settle = (item: Row, request: BulkRequest) =>
      Promise.allSettled([audience.v1.customers.upsert(item, request)]);
    const first = collectRun(audience.bulk(rows(1), settle, { key, checkpoint, signal: stop.signal }));
    await until(() => mock.requests.length === 1);

    stop.abort();

    expect((await first).results.map(({ status }) => status)).not.toContain("succeeded");
    if (kind === "429") expect(checkpoint.lines.at(-1)).toContain('"unsent"');
    const next = createFixture();
    const { results } = await collectRun(next.audience.bulk(rows(1), next.upsert, { key, checkpoint }));
    expect(results.map(({ status }) => status)).toEqual(["succeeded"]);
    expect(next.mock.requests).toHaveLength(1);
  },
);

it("A row whose attempt with the next key is cut off by the end of the run is sent by the next run", async () => {
  let apiKey = "the-first-key";
  const { audience, mock } = createFixture({ latencyMs: 50 }, { apiKey: () => apiKey });
  const checkpoint = new MemoryCheckpoint();
  const stop = new AbortController();
  const settle = (item: Row, request: BulkRequest) =>
    Promise.allSettled([audience.v1.customers.upsert(item, request)]);
  const options = { key, checkpoint, organization: "acme" };
  const first = collectRun(audience.bulk(rows(1), settle, { ...options, signal: stop.signal }));
  await until(() => mock.requests.length === 1);

  apiKey = mock.clientOptions.apiKey;
  stop.abort();

  expect((await first).results.map(({ status }) => status)).not.toContain("succeeded");
  const { results } = await collectRun(audience.bulk(rows(1), settle, options));
  expect(results.map(({ status }) => status)).toEqual(["succeeded"]);
  expect(mock.organization("mock-organization").contacts).toHaveLength(1);
});

it("A row whose write was carried out has succeeded, though a read after it was cut off", async () => {
  const { audience, mock } = createFixture({
    latencyMs: 50,
    faults: [{ kind: "500-before", operation: "v1.customers.get" }],
  });
  const checkpoint = new MemoryCheckpoint();
  const stop = new AbortController();
  const send = async (item: Row, request: BulkRequest) => {
    const { id } = await audience.v1.customers.upsert(item, request);
    await Promise.allSettled([audience.v1.customers.get(id, request)]);
  };
  const first = collectRun(audience.bulk(rows(1), send, { key, checkpoint, signal: stop.signal }));
  await until(() => mock.requests.length === 2);

  stop.abort();

  expect((await first).results.map(({ status }) => status)).toEqual(["succeeded"]);
  expect(await audience.bulk(rows(1), send, { key, checkpoint })).toMatchObject({ skipped: 1 });
});

it("A row whose second write is cut off by the end of the run is sent by the next run", async () => {
  const rateLimiter = new RateLimiter({ windows: [{ limit: 1, intervalMs: 60_000 }] });
  const { audience, mock } = createFixture({}, { rateLimiter });
  const checkpoint = new MemoryCheckpoint();
  const stop = new AbortController();
  const settle = async (item: Row, request: BulkRequest) => {
    await audience.v1.customers.upsert(item, request);
    await Promise.allSettled([audience.v1.customers.upsert({ ...item, first_name: "Ada" }, request)]);
  };
  const first = collectRun(audience.bulk(rows(1), settle, { key, checkpoint, signal: stop.signal }));
  await until(() => mock.requests.length === 1 && rateLimiter.usage().queued === 1);

  stop.abort();

  expect((await first).results.map(({ status }) => status)).not.toContain("succeeded");
  const next = createFixture({}, mock.clientOptions);
  const { results } = await collectRun(next.audience.bulk(rows(1), next.upsert, { key, checkpoint }));
  expect(results.map(({ status }) => status)).toEqual(["succeeded"]);
});

it.each<[string, (audience: AudienceClient, item: Row, request: BulkRequest) => PromiseLike<unknown>]>([
  ["that writes nothing", ({ v1 }, _, request) => v1.contactGroups.list({}, request)],
  [
    "whose write the service has refused",
    ({ v1 }, item, request) => Promise.allSettled([v1.customers.upsert(item, request)]),
  ],
])("A row %s as a read is cut off by the end of the run is sent by the next run", async (_, first) => {
  const rateLimiter = new RateLimiter({ windows: [{ limit: 1, intervalMs: 60_000 }] });
  const { audience, mock } = createFixture({}, { rateLimiter });
  mock.addFault({ kind: "redirect", operation: "v1.customers.upsert" });
  const checkpoint = new MemoryCheckpoint();
  const stop = new AbortController();
  const settle = async (item: Row, request: BulkRequest) => {
    await first(audience, item, request);
    await Promise.allSettled([audience.v1.customers.get("a-contact", request)]);
  };
  const run = collectRun(audience.bulk(rows(1), settle, { key, checkpoint, signal: stop.signal }));
  await until(() => rateLimiter.usage().queued === 1);

  stop.abort();

  expect((await run).results).toMatchObject([{ status: "failed", error: { code: "aborted" } }]);
  const next = createFixture();
  const { results } = await collectRun(next.audience.bulk(rows(1), next.upsert, { key, checkpoint }));
  expect(results.map(({ status }) => status)).toEqual(["succeeded"]);
});

it("A row that was never sent has no result after an abort, though it once had a permit", async () => {
  const rateLimiter = new RateLimiter();
  const { promise: isRefused, resolve: giveKey } = deferred();
  const { promise: hasBothPermits, resolve: secondAsks } = deferred();
  let asked = 0;
  const apiKey = async () => {
    if (++asked === 2) {
      secondAsks();
      await isRefused;
    }
    return "mock-api-key";
  };
  const fetch = async (url: string, init: RequestInit) => {
    await hasBothPermits;
    return await mock.fetch(url, init);
  };
  const faults = [{ kind: "429", retryAfter: 60 } as const];
  const { audience, upsert, mock } = createFixture({ faults }, { rateLimiter, apiKey, fetch });
  const stop = new AbortController();
  const run = collectRun(audience.bulk(rows(2), upsert, { signal: stop.signal }));
  await until(() => rateLimiter.usage().pausedMs > 0);
  giveKey();
  await flushEventLoop();

  stop.abort();

  expect((await run).results).toMatchObject([{ index: 0, status: "failed" }]);
  expect(mock.requests).toHaveLength(1);
});

it("A run that is aborted before its first request has the outcome not-sent, and later unknown", async () => {
  const before = createFixture();
  const during = createFixture();
  const stop = new AbortController();
  const importing = ({ audience, upsert }: typeof before, signal: AbortSignal) =>
    audience.bulk(rows(2), upsert, { signal, concurrency: 1 });
  const loop = async () => {
    for await (const { status } of importing(during, stop.signal)) if (status === "succeeded") stop.abort();
  };

  expect(await failureOf(importing(before, AbortSignal.abort()).summary())).toMatchObject({
    outcome: "not-sent",
  });
  expect(await failureOf(loop())).toMatchObject({ code: "aborted", outcome: "unknown" });

  expect([before.mock.requests, during.mock.requests]).toEqual([[], [expect.anything()]]);
});

it("A row whose call is aborted while isCurrent is asked was not sent, and is sent by the next run", async () => {
  const { audience, mock } = createFixture();
  const checkpoint = new MemoryCheckpoint();
  const stop = new AbortController();
  const importing = (signal: AbortSignal | undefined, isCurrent: () => Promise<boolean>) =>
    audience.bulk(
      rows(1),
      async ({ email }, request) => {
        try {
          // Without an opt-in it must not be repeated.
          return await audience.v1.customers.upsert({ email }, request);
        } catch (error) {
          await flushEventLoop();
          throw error;
        }
      },
      { checkpoint, key, isCurrent, ...(signal && { signal }) },
    );
  const aborted = importing(stop.signal, async () => {
    stop.abort("stop");
    await flushEventLoop();
    return true;
  });

  expect(await failureOf(aborted.summary())).toMatchObject({ code: "aborted" });
  expect(mock.requests).toEqual([]);
  expect(await importing(undefined, async () => true)).toMatchObject({ succeeded: 1, unknown: 0 });
  expect(mock.requests).toHaveLength(1);
});
