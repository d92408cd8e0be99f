import type { MockFault } from "audience-sdk/mock";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { eventually } from "../eventually.ts";
import { entryPoints, inProcess, nodeHttp, type OpenEntryPoint } from "./entry-points.ts";

const CREATE = "/api/v1/customer/create";
const body = { email: "ada@example.com" };

/** The statuses of these requests. */
const statusesOf = async (options: Parameters<typeof inProcess.open>[0], ...paths: string[]) => {
  const { call } = await inProcess.open(options);
  const statuses: number[] = [];
  for (const path of paths) statuses.push((await call(path)).status);
  return statuses;
};
const lists = (count: number) => Array.from({ length: count }, () => "/v2/lists");

describe.each(entryPoints)("a fault, $name", (entryPoint) => {
  let open: OpenEntryPoint;
  const isWritten = () => open.mock.organization("mock-organization").contacts.length > 0;
  const write = (fault: MockFault) => {
    open.mock.addFault(fault);
    return open.call(CREATE, { body });
  };

  beforeEach(async () => {
    open = await entryPoint.open();
  });
  afterEach(() => open.close());

  it.each([
    ["reset-before", false],
    ["reset-after", true],
  ] as const)("%s breaks the connection; the write is applied: %s", async (kind, applied) => {
    await expect(write({ kind })).rejects.toThrow(TypeError);

    expect(isWritten()).toBe(applied);
    expect(open.mock.requests).toMatchObject([{ fault: kind, applied, status: undefined }]);
  });

  const JSON_TYPE = expect.stringMatching(/^application\/json/) as unknown;
  const page = {
    type: expect.stringMatching(/^text\/html/) as unknown,
    body: expect.stringContaining("<html>") as unknown,
  };
  const profile = { type: JSON_TYPE, body: expect.objectContaining({ data: expect.anything() as unknown }) };
  const failure = { type: JSON_TYPE, body: { message: "unexpected server error" } };

  it.each<[MockFault, number, boolean, object]>([
    [{ kind: "500-before" }, 500, false, failure],
    [{ kind: "500-after" }, 500, true, failure],
    [{ kind: "502-html" }, 502, true, page],
    [{ kind: "503-retry-after" }, 503, false, { retryAfter: "1" }],
    [{ kind: "429" }, 429, false, { retryAfter: "1", body: { message: "rate limit exceeded" } }],
    [{ kind: "429", retryAfter: false }, 429, false, { retryAfter: null }],
    [{ kind: "redirect" }, 307, false, { location: `https://elsewhere.example${CREATE}` }],
    [
      { kind: "truncated-json" },
      201,
      true,
      { type: JSON_TYPE, body: expect.stringMatching(/^\{"data".*[^}]$/) },
    ],
    [{ kind: "wrong-json" }, 201, true, { type: JSON_TYPE, body: { unexpected: { shape: 7 } } }],
    [{ kind: "wrong-content-type" }, 200, true, page],
    [{ kind: "empty-body" }, 201, true, { type: JSON_TYPE, body: "" }],
    [{ kind: "latency", delayMs: 5 }, 201, true, profile],
    [{ kind: "slow-body", delayMs: 2 }, 201, true, profile],
  ])("%j responds with %i; the write is applied: %s", async (fault, status, applied, response) => {
    const { headers, ...got } = await write(fault);

    const [type, location] = [headers.get("content-type"), headers.get("location")];
    const retryAfter = headers.get("retry-after");
    expect({ ...got, type, location, retryAfter }).toMatchObject({ status, ...response });
    expect(isWritten()).toBe(applied);
    expect(open.mock.requests).toMatchObject([{ fault: fault.kind, applied, status }]);
  });

  it("huge-body is the correct response in more than 10 MiB", async () => {
    open.mock.addFault({ kind: "huge-body" });
    const text = await (await open.send(CREATE, { body })).text();

    expect(text.length).toBeGreaterThan(10 * 1024 * 1024);
    expect(JSON.parse(text)).toMatchObject({ data: { type: "profile" } });
    expect(isWritten()).toBe(true);
  });

  it("slow-body breaks off with the caller's signal, after the headers", async () => {
    // msw 3 holds the headers back until the first part.
    open.mock.addFault({ kind: "slow-body", delayMs: 300 });
    const abort = new AbortController();
    const response = await open.send(CREATE, { body, signal: abort.signal });
    const reading = response.text();
    abort.abort();

    await expect(reading).rejects.toMatchObject({ name: "AbortError" });
    expect(response.status).toBe(201);
  });

  it("hang sends no response until the caller aborts; the write is applied", async () => {
    const abort = new AbortController();
    open.mock.addFault({ kind: "hang" });
    const hanging = open.call(CREATE, { body, signal: abort.signal });
    await eventually(() => expect(isWritten()).toBe(true));
    abort.abort();

    await expect(hanging).rejects.toMatchObject({ name: "AbortError" });
    expect(open.mock.requests).toMatchObject([{ fault: "hang", applied: true, status: undefined }]);
  });

  it("reset releases hanging requests", async () => {
    open.mock.addFault({ kind: "hang" });
    const hanging = open.call(CREATE, { body });
    await eventually(() => expect(isWritten()).toBe(true));
    open.mock.reset();

    await expect(hanging).rejects.toThrow(TypeError);
  });
});

// MSW returns one branch of a tee, whose cancel() waits for the other branch.
describe.each([inProcess, nodeHttp])("huge-body, $name", (entryPoint) => {
  it("ends where the caller stops reading", async () => {
    const { send, close } = await entryPoint.open({ faults: [{ kind: "huge-body" }] });
    const response = await send(CREATE, { body });
    const reader = response.body?.getReader();
    const first = await reader?.read();
    await reader?.cancel();
    await close();

    expect(response.status).toBe(201);
    expect(first?.value?.length).toBeLessThanOrEqual(64 * 1024);
  });
});

describe("a list of faults", () => {
  it("of several matching ones the first is applied, and the others wait for a later request", async () => {
    const faults = (["429", "502-html"] as const).map((kind) => ({ kind, times: 1 }));

    expect(await statusesOf({ faults }, ...lists(3))).toEqual([429, 502, 200]);
  });

  it("with a probability matches that share of requests, the same ones for the same seed", async () => {
    const options = { faults: [{ kind: "500-before", probability: 0.3 }] as const, seed: 7 };
    const first = await statusesOf(options, ...lists(200));
    const matched = first.filter((status) => status === 500).length;

    expect(matched).toBeGreaterThan(40);
    expect(matched).toBeLessThan(80);
    expect(await statusesOf(options, ...lists(200))).toEqual(first);
    expect(await statusesOf({ ...options, seed: 8 }, ...lists(200))).not.toEqual(first);
  });

  it("matches only its operation, after the given number of requests, as often as configured", async () => {
    const faults = [{ kind: "500-before", operation: "v1.customers.list", after: 1, times: 2 }] as const;
    const [customers, groups] = ["/api/v1/customer", "/api/v1/contact-groups"];
    const paths = [customers, groups, customers, customers, customers];

    expect(await statusesOf({ faults }, ...paths)).toEqual([200, 200, 500, 500, 200]);
  });

  it("has the error body of the family", async () => {
    const { call } = await inProcess.open({ faults: [{ kind: "500-before" }] });

    const message = "unexpected server error";
    expect((await call("/v2/lists")).body).toEqual({ status: "error", message });
  });

  it("is used up by no request that the rate limit refuses", async () => {
    const rateLimits = [{ limit: 1, intervalMs: 1_000 }];
    let now = 0;
    const { call, mock } = await inProcess.open({
      faults: [{ kind: "500-before", after: 1, times: 1 }],
      rateLimits,
      clock: () => now,
    });
    for (const at of [0, 1, 1_000, 2_000]) {
      now = at;
      await call("/v2/lists");
    }

    expect(mock.requests.map(({ status }) => status)).toEqual([200, 429, 500, 200]);
  });

  it("is applied before the key is checked, also to requests with an unknown key", async () => {
    const { mock, call } = await inProcess.open({ faults: [{ kind: "500-before", times: 1 }] });
    await call("/v2/lists", { headers: { "service-api-key": "" } });
    await call("/v2/lists", { headers: { "service-api-key": "" } });

    expect(mock.requests.map(({ status }) => status)).toEqual([500, 401]);
  });
});

describe("in process", () => {
  it("an aborted signal rejects with its reason, and nothing arrives", async () => {
    const { mock, call } = await inProcess.open();
    const reason = new Error("enough");

    await expect(call("/v2/lists", { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(mock.requests).toEqual([]);
  });

  it("an abort in flight rejects at once, while the write goes on", async () => {
    vi.useFakeTimers();
    const { mock, call } = await inProcess.open({ latencyMs: 100 });
    const abort = new AbortController();
    const aborted = call(CREATE, { body, signal: abort.signal });
    await vi.advanceTimersByTimeAsync(10);
    abort.abort();
    await expect(aborted).rejects.toMatchObject({ name: "AbortError" });
    await vi.advanceTimersByTimeAsync(100);

    expect(mock.requests).toMatchObject([{ applied: true }]);
  });

  it("reset breaks the connection of a request that has not arrived, and nothing of it is left", async () => {
    vi.useFakeTimers();
    const { mock, call } = await inProcess.open({ latencyMs: 100 });
    const early = call(CREATE, { body }).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(10);
    mock.reset();
    await vi.advanceTimersByTimeAsync(100);

    expect(await early).toMatchObject({ cause: { code: "ECONNRESET" } });
    expect(mock.requests).toEqual([]);
    expect(mock.organization("mock-organization").contacts).toEqual([]);
  });

  it.each([
    ["of the mock, of which half passes before the request is handled", { latencyMs: 100 }, 50, 100],
    [
      "of the mock beside that of a fault",
      { latencyMs: 1_000, faults: [{ kind: "latency", delayMs: 9_000 }] },
      500,
      10_000,
    ],
    ["of a fault, one second by default", { faults: [{ kind: "latency" }] }, 0, 1_000],
  ] as const)(
    "under fake timers the latency %s takes no real time",
    async (_, options, arrivedAtMs, endedAt) => {
      vi.useFakeTimers({ now: 0 });
      const { mock, call } = await inProcess.open(options);
      const respondedAt = call("/v2/lists").then(() => Date.now());
      await vi.advanceTimersByTimeAsync(20_000);

      expect(await respondedAt).toBe(endedAt);
      expect(mock.requests).toMatchObject([{ arrivedAtMs }]);
    },
  );

  it("a range of latencies is drawn from, so that requests can overtake each other", async () => {
    vi.useFakeTimers({ now: 0 });
    const { mock, call } = await inProcess.open({ latencyMs: [10, 1_000] });
    const calls = Promise.all(Array.from({ length: 20 }, (_, at) => call(`/v2/lists?page=${at + 1}`)));
    await vi.advanceTimersByTimeAsync(1_000);
    await calls;

    const pages = mock.requests.map(({ query }) => Number(query["page"]));
    expect(pages).not.toEqual(pages.toSorted((a, b) => a - b));
    for (const { arrivedAtMs, durationMs } of mock.requests)
      expect([arrivedAtMs + durationMs! >= 10, arrivedAtMs + durationMs! <= 1_000]).toEqual([true, true]);
  });

  it("a slow-body of 11 bytes has ten chunks, one second apart by default", async () => {
    vi.useFakeTimers({ now: 0 });
    const { send } = await inProcess.open({
      variants: { v1Error: () => "123456789" },
      faults: [{ kind: "slow-body" }],
    });
    const reader = (await send("/api/v1/nothing")).body!.getReader();
    const times: number[] = [];
    const read = (async () => {
      while (!(await reader.read()).done) times.push(Date.now());
    })();
    await vi.advanceTimersByTimeAsync(20_000);
    await read;

    expect(times).toEqual(Array.from({ length: 10 }, (_, at) => (at + 1) * 1_000));
  });
});

describe("node:http", () => {
  it("close aborts hanging requests, and frees the port", async () => {
    const { mock, options, call, close } = await nodeHttp.open({ faults: [{ kind: "hang" }] });
    const hanging = call("/v2/lists");
    await eventually(() => expect(mock.requests).toHaveLength(1));
    const closing = close();

    await expect(hanging).rejects.toThrow(TypeError);
    await closing;
    const again = await mock.listen({ port: Number(new URL(options.baseUrl).port) });
    expect(again.clientOptions.baseUrl).toBe(options.baseUrl);
    await again.close();
  });

  it("closes no idle connection: that would be a fault that nobody has asked for", async () => {
    const { options, close } = await nodeHttp.open();

    const { headers } = await fetch(options.baseUrl);
    await close();

    // A server that closes them says after how many seconds.
    expect([headers.get("connection"), headers.get("keep-alive")]).toEqual(["keep-alive", null]);
  });
});
