import { createConnection } from "node:net";
import type { MockFault } from "audience-sdk/mock";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { eventually } from "../eventually.ts";
import { entryPoints, inProcess, nodeHttp, type OpenEntryPoint } from "./entry-points.ts";

const CREATE = "/api/v1/customer/create";
const body = { email: "ada@example.com" };

const statusesOf = async (options: Parameters<typeof inProcess.open>[0], count: number) => {
  const { call } = await inProcess.open(options);
  const statuses: number[] = [];
  for (let at = 0; at < count; at += 1) statuses.push((await call("/v2/lists")).status);
  return statuses;
};

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

  it.each([
    ["500-before", 500, false],
    ["500-after", 500, true],
    ["502-html", 502, true],
    ["503-retry-after", 503, false],
    ["429", 429, false],
    ["redirect", 307, false],
    ["truncated-json", 201, true],
    ["wrong-json", 201, true],
    ["wrong-content-type", 200, true],
    ["empty-body", 201, true],
  ] as const)("%s responds with %i; the write is applied: %s", async (kind, status, applied) => {
    const response = await write({ kind });

    expect(response.status).toBe(status);
    expect(isWritten()).toBe(applied);
    expect(open.mock.requests).toMatchObject([{ fault: kind, applied, status }]);
  });

  it("500 has an error body of the family", async () => {
    open.mock.addFault({ kind: "500-before" });

    expect((await open.call(CREATE, { body })).body).toEqual({ message: "unexpected server error" });
    expect((await open.call("/v2/lists")).body).toEqual({
      status: "error",
      message: "unexpected server error",
    });
  });

  it.each(["502-html", "wrong-content-type"] as const)("%s is a page of HTML", async (kind) => {
    const response = await write({ kind });

    expect(response.headers.get("content-type")).toContain("text/html");
    expect(response.body).toContain("<html>");
  });

  it.each(["429", "503-retry-after"] as const)("%s has a Retry-After", async (kind) => {
    const date = new Date(Date.UTC(2026, 10, 21, 12));
    open.mock.addFault({ kind, times: 1 });
    open.mock.addFault({ kind, times: 1, after: 1, retryAfter: 7 });
    open.mock.addFault({ kind, times: 1, after: 2, retryAfter: date });
    open.mock.addFault({ kind, times: 1, after: 3, retryAfter: false });

    const waits: (string | null)[] = [];
    for (let at = 0; at < 4; at += 1)
      waits.push((await open.call("/api/v1/customer")).headers.get("retry-after"));
    expect(waits).toEqual(["1", "7", "Sat, 21 Nov 2026 12:00:00 GMT", null]);
  });

  it("redirect leads to another origin", async () => {
    const response = await write({ kind: "redirect" });

    expect(response.headers.get("location")).toBe(`https://elsewhere.example${CREATE}`);
  });

  it("redirect leads to its location, if it has one", async () => {
    const response = await write({ kind: "redirect", location: "/moved" });

    expect(response.headers.get("location")).toBe("/moved");
  });

  it("truncated-json breaks off within the JSON", async () => {
    const response = await write({ kind: "truncated-json" });

    expect(response.headers.get("content-type")).toContain("application/json");
    expect(response.body).toEqual(expect.stringMatching(/^\{"data"/));
  });

  it("wrong-json is JSON of another shape", async () => {
    const response = await write({ kind: "wrong-json" });

    expect(response.body).toEqual({ unexpected: { shape: 7 } });
  });

  it("empty-body has no body", async () => {
    expect((await write({ kind: "empty-body" })).body).toBe("");
  });

  it("huge-body is the correct response in more than 10 MiB", async () => {
    open.mock.addFault({ kind: "huge-body" });
    const text = await (await open.send(CREATE, { body })).text();

    expect(text.length).toBeGreaterThan(10 * 1024 * 1024);
    expect(JSON.parse(text)).toMatchObject({ data: { type: "profile" } });
    expect(isWritten()).toBe(true);
  });

  it("slow-body sends the correct response in ten chunks", async () => {
    open.mock.addFault({ kind: "slow-body", delayMs: 2 });
    const { status, body: got } = await open.call(CREATE, {
      body: { ...body, first_name: "🎈".repeat(100) },
    });

    expect(status).toBe(201);
    expect(got).toMatchObject({ data: { type: "profile", attributes: { first_name: "🎈".repeat(100) } } });
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

  it("hang ends at once where the caller aborts before the time of the response", async () => {
    open.mock.addFault({ kind: "hang", delayMs: 30 });
    const abort = new AbortController();
    const hanging = open.call(CREATE, { body, signal: abort.signal });
    await eventually(() => expect(isWritten()).toBe(true));
    abort.abort();

    await expect(hanging).rejects.toMatchObject({ name: "AbortError" });
  });

  it("reset releases hanging requests", async () => {
    open.mock.addFault({ kind: "hang" });
    const hanging = open.call(CREATE, { body });
    await eventually(() => expect(isWritten()).toBe(true));
    open.mock.reset();

    await expect(hanging).rejects.toThrow(TypeError);
  });

  it("latency delays the correct response", async () => {
    const { status } = await write({ kind: "latency", delayMs: 5 });

    expect(status).toBe(201);
    expect(open.mock.requests).toMatchObject([{ fault: "latency", applied: true }]);
  });

  it("matches only its operation, after the given number of requests, as often as configured", async () => {
    open.mock.addFault({ kind: "500-before", operation: "v1.customers.list", after: 1, times: 2 });

    const statuses: number[] = [];
    for (const path of [
      "/api/v1/customer",
      "/v2/lists",
      "/api/v1/customer",
      "/api/v1/customer",
      "/api/v1/customer",
    ]) {
      statuses.push((await open.call(path)).status);
    }
    expect(statuses).toEqual([200, 200, 500, 500, 200]);
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
    const statuses = await statusesOf(
      {
        faults: [
          { kind: "429", times: 1 },
          { kind: "502-html", times: 1 },
        ],
      },
      3,
    );

    expect(statuses).toEqual([429, 502, 200]);
  });

  it("with a probability matches that share of requests, the same ones for the same seed", async () => {
    const options = { faults: [{ kind: "500-before", probability: 0.3 }] as const, seed: 7 };
    const first = await statusesOf(options, 200);
    const matched = first.filter((status) => status === 500).length;

    expect(matched).toBeGreaterThan(40);
    expect(matched).toBeLessThan(80);
    expect(await statusesOf(options, 200)).toEqual(first);
    expect(await statusesOf({ ...options, seed: 8 }, 200)).not.toEqual(first);
  });

  it("is refused where a kind is unknown", async () => {
    const { mock } = await inProcess.open();

    // @ts-expect-error -- a caller from JavaScript or JSON has no compiler.
    expect(() => mock.addFault({ kind: "explode" })).toThrow(/^fault\.kind must be one of reset-before/);
  });

  it("is applied before the key is checked, also to requests with an unknown key", async () => {
    const { mock, call } = await inProcess.open({ faults: [{ kind: "500-before", times: 1 }] });
    await call("/v2/lists", { headers: { "service-api-key": "" } });
    await call("/v2/lists", { headers: { "service-api-key": "" } });

    expect(mock.requests.map(({ status }) => status)).toEqual([500, 401]);
  });
});

it.each([
  [{ kind: "hang", operation: "v1.event.send" }, /^fault\.operation must be one of v1.customers.upsert/],
  [{ kind: "hang", times: "1" }, /^fault\.times must be a number from 1$/],
  [{ kind: "hang", times: 0 }, /^fault\.times must be a number from 1$/],
  [{ kind: "hang", after: -1 }, /^fault\.after must be a number from 0$/],
  [{ kind: "hang", probability: 2 }, /^fault\.probability must be a number from 0 to 1$/],
  [{ kind: "429", retryAfter: "soon" }, /^fault\.retryAfter must be a number of seconds, a date, or false$/],
  [{ kind: "latency", delay: 5 }, /^fault\.delay is not a recognized field; there are kind, operation/],
  [{ kind: "redirect", location: 7 }, /^fault\.location must be a string, not a number$/],
  [{ times: 1 }, /^fault\.kind is required$/],
  [null, /^fault must be an object, not null$/],
  ["hang", /^fault must be an object, not a string$/],
])("a misspelt fault is refused: %j", async (fault, message) => {
  const { mock } = await inProcess.open();

  // @ts-expect-error -- a caller from JavaScript or JSON has no compiler.
  expect(() => mock.addFault(fault)).toThrow(message);
});

it("a field of a fault whose value is undefined is ignored, also an unknown one", async () => {
  const { mock, call } = await inProcess.open();
  // @ts-expect-error -- a caller from JavaScript or JSON has no compiler.
  mock.addFault({ kind: "500-before", times: 1, delayMs: undefined, delay: undefined });
  await call("/v2/lists");
  await call("/v2/lists");

  expect(mock.requests.map(({ status }) => status)).toEqual([500, 200]);
});

describe("in process", () => {
  afterEach(() => void vi.useRealTimers());

  it("a reset resembles that of fetch: its cause has the code ECONNRESET", async () => {
    const { call } = await inProcess.open({ faults: [{ kind: "reset-before" }] });

    await expect(call("/v2/lists")).rejects.toMatchObject({
      message: "fetch failed",
      cause: { code: "ECONNRESET" },
    });
  });

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

  it("many requests that are under way at once make the runtime warn of nothing", async () => {
    const warn = vi.spyOn(process, "emitWarning");
    const { call } = await inProcess.open({ latencyMs: 1 });

    await Promise.all(Array.from({ length: 30 }, () => call(CREATE, { body })));

    expect(warn.mock.calls).toEqual([]);
  });

  it("under fake timers latency and faults take no real time", async () => {
    vi.useFakeTimers({ now: 0 });
    const { mock, call } = await inProcess.open({
      latencyMs: [1_000, 1_000],
      faults: [{ kind: "latency", delayMs: 9_000 }],
    });
    const respondedAt = call(CREATE, { body }).then(() => Date.now());
    await vi.advanceTimersByTimeAsync(10_000);

    expect(await respondedAt).toBe(10_000);
    expect(mock.requests[0]?.arrivedAtMs).toBeGreaterThan(0);
    expect(mock.requests[0]?.arrivedAtMs).toBeLessThan(1_000);
  });

  it("latency is one second by default", async () => {
    vi.useFakeTimers({ now: 0 });
    const { call } = await inProcess.open({ faults: [{ kind: "latency" }] });
    const respondedAt = call("/v2/lists").then(() => Date.now());
    await vi.advanceTimersByTimeAsync(20_000);

    expect(await respondedAt).toBe(1_000);
  });

  it.each([
    ["11 bytes", { variants: { v1Error: () => "123456789" } }, "/api/v1/nothing"],
    ["fewer than ten bytes", { variants: { v1List: () => [] } }, "/api/v1/customer"],
    ["many bytes", {}, "/v2/lists"],
  ])("a slow-body of %s has ten chunks, one second apart by default", async (_, options, path) => {
    vi.useFakeTimers({ now: 0 });
    const { send } = await inProcess.open({ ...options, faults: [{ kind: "slow-body" }] });
    const reader = (await send(path)).body!.getReader();
    const times: number[] = [];
    const read = (async () => {
      while (!(await reader.read()).done) times.push(Date.now());
    })();
    await vi.advanceTimersByTimeAsync(20_000);
    await read;

    expect(times).toEqual(Array.from({ length: 10 }, (__, at) => (at + 1) * 1_000));
  });

  it("a response without a body gets one where a fault changes the body", async () => {
    const { call } = await inProcess.open({
      variants: { eventStatus: 204 },
      faults: [{ kind: "truncated-json" }],
    });

    expect(await call("/api/v1/events", { body: { eventName: "signed_up", contact: body } })).toMatchObject({
      status: 200,
      body: "{",
    });
  });

  it("half of a fixed latency passes before the request is handled", async () => {
    vi.useFakeTimers({ now: 0 });
    const { mock, call } = await inProcess.open({ latencyMs: 100 });
    const respondedAt = call("/v2/lists").then(() => Date.now());
    await vi.advanceTimersByTimeAsync(100);

    expect(mock.requests).toMatchObject([{ arrivedAtMs: 50 }]);
    expect(await respondedAt).toBe(100);
  });

  it("the response has the url of its request", async () => {
    const { send, options } = await inProcess.open();

    expect((await send("/v2/lists?page=1")).url).toBe(`${options.baseUrlV2}/v2/lists?page=1`);
  });

  it("accepts a Request", async () => {
    const { mock, options } = await inProcess.open();
    const request = new Request(`${options.baseUrl}/api/v1/customer`, {
      headers: { "x-api-key": options.apiKey },
    });

    expect((await mock.fetch(request)).status).toBe(200);
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

  /** The server's raw response to these lines. */
  const rawResponse = (lines: readonly string[], { baseUrl }: { baseUrl: string }) =>
    new Promise<string>((resolve, reject) => {
      const socket = createConnection(Number(new URL(baseUrl).port), "127.0.0.1");
      let response = "";
      socket.on("data", (piece) => (response += piece.toString()));
      socket.on("error", reject).on("close", () => resolve(response));
      socket.write([...lines, "", ""].join("\r\n"));
    });

  it("responds to HTTP/1.0 requests", async () => {
    const { options, close } = await nodeHttp.open();

    const response = await rawResponse(["GET /v2/lists HTTP/1.0", "Host: localhost"], options);

    expect(response).toMatch(/^HTTP\/1\.1 401 /);
    await close();
  });

  it("returns client options for real HTTP: no fetch, both families on its own origin", async () => {
    const { mock, options, close } = await nodeHttp.open({ rateLimits: "documented" });
    await close();

    const origin = options.baseUrl;
    expect(origin).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(options).toEqual({
      baseUrl: origin,
      baseUrlV2: origin,
      apiKey: "mock-api-key-not-a-secret",
      appId: "mock-app-id",
      rateLimiter: {
        windows: [
          { limit: 10, intervalMs: 1_000 },
          { limit: 100, intervalMs: 60_000 },
          { limit: 1_000, intervalMs: 3_600_000 },
        ],
      },
    });
    expect(mock.clientOptions.fetch).toBe(mock.fetch);
  });
});
