import { AsyncLocalStorage } from "node:async_hooks";
import { subscribe, tracingChannel, unsubscribe } from "node:diagnostics_channel";
import { AudienceClient, RateLimiter, write } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { failureOf } from "./failure.ts";
import {
  contact,
  facts,
  mockedClient,
  type Published,
  recorded,
  settle,
  useFakeTime,
  within,
} from "./fixture.ts";

const times = { durationMs: expect.any(Number), queuedMs: expect.any(Number) };
const callChannel = tracingChannel("audience-sdk:call");
const requestChannel = tracingChannel("audience-sdk:request");

useFakeTime();

describe("The tracing channel audience-sdk:call", () => {
  it("carries one message per call, filled in at its end, with its outcome, attempts and time in the queue", async () => {
    const log = recorded(callChannel);
    const rateLimiter = new RateLimiter({ windows: [{ limit: 1, intervalMs: 5_000 }] });
    const { audience } = mockedClient({ faults: [{ kind: "500-before", times: 1 }] }, { rateLimiter });

    await settle(audience.v1.customers.upsert(contact));

    const ended = { ...facts, attempts: 2, outcome: "applied", ...times };
    expect(log).toEqual([
      ["start", facts],
      ["end", facts],
      ["asyncStart", ended],
      ["asyncEnd", ended],
    ]);
    expect(log[3]?.[1]["queuedMs"]).toBeGreaterThan(4_000);
  });

  it("has the outcome not-applied for a read, and for each page of a list", async () => {
    const log = recorded(callChannel);
    const { audience } = mockedClient();
    for (const name of ["a", "b", "c"])
      await audience.v1.customers.upsert({ ...contact, email: `${name}@example.com` });
    log.length = 0;

    await audience.v1.customers.list({ limit: 2 }).toArray();

    const page = {
      ...facts,
      operation: "v1.customers.list",
      method: "GET",
      path: "/api/v1/customer",
      attempts: 1,
      outcome: "not-applied",
      ...times,
    };
    const ended = log.filter(([event]) => event === "asyncEnd").map(([, message]) => message);
    expect(ended).toEqual([page, page]);
  });

  it.each<[string, (audience: AudienceClient) => Promise<unknown>, object]>([
    [
      "invalid input",
      ({ v1 }) => v1.customers.upsert({ ...contact, email: "x" }),
      { name: "ValidationError", code: "validation" },
    ],
    [
      "a wrong option",
      ({ v1 }) => v1.customers.upsert(contact, { maxRetries: -1 }),
      { name: "ConfigurationError", code: "configuration" },
    ],
    [
      "a signal that was aborted",
      ({ v1 }) => v1.customers.upsert(contact, { signal: AbortSignal.abort() }),
      { name: "AbortError", code: "aborted" },
    ],
  ])("carries a call that fails before it is sent, for %s", async (_, call, error) => {
    const log = recorded(callChannel);
    const { audience, mock } = mockedClient();

    await failureOf(call(audience));

    expect(mock.requests).toEqual([]);
    expect(log.map(([event]) => event)).toEqual(["start", "end", "error", "asyncStart", "asyncEnd"]);
    expect(log.at(-1)?.[1]).toEqual({ ...facts, attempts: 0, outcome: "not-sent", error, ...times });
  });

  it("publishes the end of an aborted call at the abort, even if its request continues", async () => {
    const log = recorded(callChannel);
    const { audience } = mockedClient({ latencyMs: 500 });
    const controller = new AbortController();
    await vi.advanceTimersByTimeAsync(1_000);

    const failure = failureOf(audience.v1.customers.upsert(contact, { signal: controller.signal }));
    await vi.advanceTimersByTimeAsync(50);
    controller.abort();
    await failure;

    const error = { name: "AbortError", code: "aborted" };
    expect(log.at(-1)).toEqual([
      "asyncEnd",
      { ...facts, attempts: 1, outcome: "unknown", error, queuedMs: 0, durationMs: 50 },
    ]);
  });

  it("tells how long a write waited for an earlier one to its contact, also where it ends meanwhile", async () => {
    const { audience } = mockedClient({ latencyMs: 500 });
    const first = audience.v1.customers.upsert(contact);
    const log = recorded(callChannel);
    const failure = failureOf(audience.v1.customers.upsert(contact, { deadlineMs: 200 }));
    await settle(Promise.all([first, failure]));

    const error = { name: "TimeoutError", code: "timeout" };
    expect(log.filter(([event]) => event === "asyncEnd").map(([, message]) => message)).toContainEqual({
      ...facts,
      attempts: 0,
      outcome: "not-sent",
      error,
      queuedMs: 200,
      durationMs: 200,
    });
  });

  it("encloses the call's attempts, which have its requestId", async () => {
    const log = recorded(callChannel, "call ");
    recorded(requestChannel, "attempt ", log);
    const { audience } = mockedClient({ faults: [{ kind: "500-before", times: 1 }] });

    await settle(audience.v1.customers.upsert(contact));

    expect(log.map(([event]) => event).filter((event) => !event.endsWith("asyncStart"))).toEqual([
      "call start",
      "call end",
      "attempt start",
      "attempt end",
      "attempt error",
      "attempt asyncEnd",
      "attempt start",
      "attempt end",
      "attempt asyncEnd",
      "call asyncEnd",
    ]);
    expect(new Set(log.map(([, { requestId }]) => requestId)).size).toBe(1);
  });

  it("reports that a function of the user threw between two attempts, and nothing of its error", async () => {
    const log = recorded(callChannel);
    const { audience } = mockedClient({ faults: [{ kind: "500-before", times: 1 }] });
    let asked = 0;
    const isCurrent = () => {
      if (asked++ > 0) throw new Error("no row for ada@example.com");
      return true;
    };

    const run = audience.bulk([contact], (row) => write.v1.customers.upsert(row), { isCurrent });
    const results: unknown[] = [];
    const loop = async () => {
      for await (const result of run) results.push(result);
    };
    await settle(loop());

    expect(results).toMatchObject([{ status: "unknown", error: { message: "no row for ada@example.com" } }]);
    expect(log.at(-1)?.[1]).toMatchObject({ attempts: 1, error: { name: "Error", code: "other" } });
    expect(JSON.stringify(log)).not.toContain("ada@");
  });
});

interface Span {
  readonly name: string;
  readonly parent: Span | undefined;
}

/** A tracer: each message becomes a child span of the current one. There is no other subscriber. */
function traced() {
  const spans = new AsyncLocalStorage<Span>();
  const bind = (channel: typeof callChannel, nameOf: (message: { attempt?: number }) => string) => {
    channel.start.bindStore(spans, (message) => ({
      name: nameOf(message),
      parent: spans.getStore(),
    }));
    onTestFinished(() => void channel.start.unbindStore(spans));
  };
  let calls = 0;
  bind(callChannel, () => `call ${++calls}`);
  bind(requestChannel, ({ attempt }) => `attempt ${attempt}`);
  return spans;
}

const lineageOf = (span: Span | undefined): string =>
  span === undefined ? "" : `${lineageOf(span.parent)}/${span.name}`;

it("AsyncLocalStorage stores that are bound to the start of the channels are those of the user outside of a call", async () => {
  const spans = traced();
  const own = { name: "own", parent: undefined };
  const { audience } = mockedClient();

  const after = await spans.run(own, async () => {
    await audience.v1.customers.upsert(contact);
    return spans.getStore();
  });

  expect(after).toBe(own);
});

describe("The tracing channel audience-sdk:request, and onResponse", () => {
  const never = new Promise<Response>(() => undefined);
  const late = (response: () => Response) => () =>
    new Promise<Response>((resolve) => void setTimeout(() => resolve(response()), 500));

  /** A client with `fetch`, and a log of the ends of its attempts, in the channel and in the hook. */
  function opened(fetch: () => Promise<Response>) {
    const log: Published[] = [];
    recorded(requestChannel, "", log);
    // The hook's event is a copy of the message.
    const hooks = { onResponse: (event: object) => void log.push(["onResponse", { ...event }]) };
    const { audience } = mockedClient({}, { fetch, timeoutMs: 1_000, hooks });
    const ends = () =>
      log.map(([event, { error, durationMs, status }]) => [
        event,
        ...(error ? [(error as Error).name, durationMs] : []),
        ...(status ? [status] : []),
      ]);
    return { audience, ends };
  }

  const failed = (error: string, durationMs: number) => [
    ["start"],
    ["end"],
    ["error", error, durationMs],
    ["asyncStart", error, durationMs],
    ["asyncEnd", error, durationMs],
  ];

  it.each([
    ["without a response", () => never],
    ["with a late response", late(() => Response.json({}))],
    ["with a late refusal", late(() => new Response("{}", { status: 429 }))],
    ["whose body never arrives", async () => new Response(new ReadableStream())],
  ])("report an attempt %s once, as aborted, at the moment of the abort", async (_, fetch) => {
    const { audience, ends } = opened(fetch);
    const controller = new AbortController();

    const call = failureOf(audience.v1.customers.get("1", { signal: controller.signal }));
    await vi.advanceTimersByTimeAsync(50);
    controller.abort();

    expect(ends()).toEqual(failed("AbortError", 50));
    expect(await call).toMatchObject({ code: "aborted" });
    await vi.advanceTimersByTimeAsync(10_000);
    expect(ends()).toEqual(failed("AbortError", 50));
  });

  it("report an attempt that the call's deadline ends at that moment", async () => {
    const { audience, ends } = opened(() => never);

    expect(await within(10_000, failureOf(audience.v1.customers.get("1", { deadlineMs: 80 })))).toMatchObject(
      { code: "timeout" },
    );
    expect(ends()).toEqual(failed("TimeoutError", 80));
  });
});

const callerCount = 60;
const lists = Array.from({ length: 6 }, (_, at) => ({ id: `list-${at}`, name: `List ${at}` }));

it("Of 60 concurrent calls with retries and pages, each request has its own attempt, call and caller as parents", async () => {
  vi.useRealTimers();
  const spans = traced();
  // What an instrumentation of the runtime's `fetch` finds: the spans around each request, which names its caller.
  const seen: { caller: string | undefined; lineage: string }[] = [];
  const onRequest = (message: unknown) => {
    const { request } = message as { request: { headers: string | string[] } };
    const caller = /x-caller\W+(\d+)/.exec(String(request.headers))?.[1];
    seen.push({ caller, lineage: lineageOf(spans.getStore()) });
  };
  subscribe("undici:request:create", onRequest);
  onTestFinished(() => void unsubscribe("undici:request:create", onRequest));
  const mock = createMockService({
    organizations: [{ id: "acme", apiKeys: ["acme-key"], appId: "acme-app", lists }],
    faults: [{ kind: "500-before", probability: 0.2 }],
  });
  const server = await mock.listen();
  onTestFinished(server.close);
  const rateLimiter = new RateLimiter({ windows: [{ limit: 50, intervalMs: 10 }] });
  const { v1 } = new AudienceClient({ ...server.clientOptions, rateLimiter, maxRetries: 20 });

  const callers = Array.from({ length: callerCount }, (_, caller) =>
    spans.run({ name: `caller ${caller}`, parent: undefined }, async () => {
      const headers = { "x-caller": String(caller) };
      if (caller % 10 === 0) return await v1.contactGroups.list({ limit: 2 }, { headers }).toArray();
      return await v1.customers.upsert({ ...contact, email: `caller${caller}@example.com` }, { headers });
    }),
  );
  await Promise.all(callers);

  const wrong = seen.filter(({ caller, lineage }) => !lineage.startsWith(`/caller ${caller}/call `));
  expect(wrong).toEqual([]);
  // Each listing has three pages, and about one request in five is repeated.
  const calls = new Set(seen.map(({ lineage }) => lineage.replace(/\/attempt \d+$/, "")));
  expect(calls.size).toBe(54 + 3 * 6);
  expect(seen.length).toBeGreaterThan(calls.size + 5);
  expect(new Set(seen.map(({ lineage }) => lineage)).size).toBe(seen.length);
  expect(seen).toHaveLength(mock.requests.length);
});
