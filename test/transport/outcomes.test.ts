import { AudienceClient, isAudienceError, RateLimiter, type ClientOptions } from "audience-sdk";
import { createMockService, type MockService } from "audience-sdk/mock";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { failureOf } from "./failure.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const contact = { email: "ada@example.com", email_opt_in: "SUBSCRIBED" } as const;

/** The end of an attempt: a status, a response, or a failed connection. */
type End = number | "refused" | "dns" | "tls" | "reset" | "hang" | "unexpected" | "redirect";

const codes: Partial<Record<End, string>> = {
  refused: "ECONNREFUSED",
  dns: "ENOTFOUND",
  tls: "CERT_HAS_EXPIRED",
  reset: "ECONNRESET",
};

async function respond(end: End): Promise<Response> {
  if (end === "hang") return new Promise(() => {});
  if (end === "unexpected") return new Response("<html>", { status: 200 });
  if (end === "redirect") return new Response(null, { status: 307, headers: { location: "/" } });
  if (typeof end === "number") return new Response("{}", { status: end });
  throw new TypeError("fetch failed", { cause: Object.assign(new Error(end), { code: codes[end] }) });
}

/** A client whose attempts have these ends, one after the other. */
function ending(ends: readonly End[], options: ClientOptions = {}) {
  let count = 0;
  const fetch = () => respond(ends[count++] ?? expect.fail("one attempt too many"));
  const base = {
    baseUrl: "https://api.example.com",
    apiKey: "k",
    rateLimiter: false,
    timeoutMs: 1_000,
    fetch,
  } as const;
  return new AudienceClient({ ...base, maxRetries: ends.length - 1, ...options });
}

async function outcomeOf(call: Promise<unknown>): Promise<[outcome: string, attempts: number | undefined]> {
  const failure = failureOf(call);
  await vi.advanceTimersByTimeAsync(600_000);
  const { outcome, request } = await failure;
  return [outcome, request?.attempts];
}

describe("The outcome of a write", () => {
  const notSent: readonly End[] = ["refused", "dns", "tls"];
  const notApplied: readonly End[] = [
    "redirect",
    400,
    401,
    402,
    403,
    404,
    405,
    407,
    409,
    410,
    413,
    415,
    418,
    422,
    429,
    451,
  ];
  const unknown: readonly End[] = [408, 500, 501, 502, 503, 504, 522, "reset", "hang", "unexpected"];

  it.each([
    ...notSent.map((end) => [end, "not-sent"] as const),
    ...notApplied.map((end) => [end, "not-applied"] as const),
    ...unknown.map((end) => [end, "unknown"] as const),
  ])("%s: %s", async (end, outcome) => {
    expect(await outcomeOf(ending([end]).v1.customers.upsert(contact))).toEqual([outcome, 1]);
  });

  it.each([...notApplied, ...unknown].map((end) => [end]))("a GET is never unknown: %s", async (end) => {
    expect(await outcomeOf(ending([end]).v1.customers.get("c-1"))).toEqual(["not-applied", 1]);
  });

  it("validation, configuration, a closed client, the local wait and an abort before sending: not-sent", async () => {
    const mock = createMockService();
    const rateLimiter = new RateLimiter({ windows: [{ limit: 1, intervalMs: 60_000 }] });
    const audience = new AudienceClient({ ...mock.clientOptions, rateLimiter });
    const closed = new AudienceClient(mock.clientOptions);
    await closed.close();
    await audience.v1.customers.list();

    const outcomes = await Promise.all([
      outcomeOf(audience.v1.customers.upsert({ email: "" })),
      outcomeOf(audience.v1.customers.upsert(contact, { maxRetries: -1 })),
      outcomeOf(closed.v1.customers.upsert(contact)),
      outcomeOf(audience.v1.customers.upsert(contact, { maxWaitMs: 5 })),
      outcomeOf(audience.v1.customers.upsert(contact, { signal: AbortSignal.abort() })),
    ]);

    expect(outcomes).toEqual(outcomes.map(() => ["not-sent", 0]));
    expect(mock.requests).toHaveLength(1);
  });

  it("404 of addContact: unknown, as the contact may have been created; of any other write not-applied", async () => {
    const { v1 } = ending([404, 404]);

    expect(await outcomeOf(v1.contactGroups.addContact("l", contact))).toEqual(["unknown", 1]);
    expect(await outcomeOf(v1.events.send({ eventName: "e", contact: { contactUUID: "c" } }))).toEqual([
      "not-applied",
      1,
    ]);
  });

  it("an abort in flight: unknown", async () => {
    const stop = new AbortController();
    const failure = outcomeOf(ending(["hang"]).v1.customers.upsert(contact, { signal: stop.signal }));
    await vi.advanceTimersByTimeAsync(10);
    stop.abort();

    expect(await failure).toEqual(["unknown", 1]);
  });
});

describe("The outcome of several attempts is unknown if any was unknown, and otherwise not-applied if any was", () => {
  it.each([
    [["refused", "refused"], "not-sent"],
    [["refused", 429], "not-applied"],
    [[429, "refused"], "not-applied"],
    [[429, "refused", 400], "not-applied"],
    [[429, 401], "not-applied"],
    [["refused", 500], "unknown"],
    [[500, "refused"], "unknown"],
    [["reset", 400], "unknown"],
    [[500, 429], "unknown"],
    [["hang", 401], "unknown"],
    [[408, "redirect"], "unknown"],
    [["reset", "refused", 429, "dns"], "unknown"],
    [["reset", "tls"], "unknown"],
    [["refused", "unexpected"], "unknown"],
    [[429, "unexpected"], "unknown"],
  ] as [End[], string][])("%j: %s", async (ends, outcome) => {
    expect(await outcomeOf(ending(ends).v1.customers.upsert(contact))).toEqual([outcome, ends.length]);
  });

  it.each([
    [["refused", "refused"], "not-sent"],
    [["reset", "refused"], "not-applied"],
    [[500, 500, 404], "not-applied"],
    [["hang", "unexpected"], "not-applied"],
  ] as [End[], string][])("of a GET never: %j: %s", async (ends, outcome) => {
    expect(await outcomeOf(ending(ends).v1.customers.get("c-1"))).toEqual([outcome, ends.length]);
  });

  it("also if the last attempt never began: aborted, late, closed, or without a key", async () => {
    const stop = new AbortController();
    const aborted = failureOf(ending([500, 500]).v1.customers.upsert(contact, { signal: stop.signal }));
    const late = failureOf(ending([500, 500]).v1.customers.upsert(contact, { deadlineMs: 100 }));
    const closing = ending([500, 500]);
    const closed = failureOf(closing.v1.customers.upsert(contact));
    let asked = 0;
    const keyless = failureOf(
      ending([500, 500], { apiKey: () => (asked++ === 0 ? "k" : "") }).v1.customers.upsert(contact),
    );
    await vi.advanceTimersByTimeAsync(10);
    stop.abort();
    await closing.close();
    await vi.advanceTimersByTimeAsync(5_000);

    const errors = await Promise.all([aborted, late, closed, keyless]);
    expect(errors.map(({ code }) => code)).toEqual(["aborted", "timeout", "closed", "configuration"]);
    expect(errors.map(({ outcome, request }) => [outcome, request?.attempts])).toEqual(
      errors.map(() => ["unknown", 1]),
    );
  });

  it("but a success after failures is a success", async () => {
    const mock = createMockService({
      faults: [
        { kind: "500-after", times: 1 },
        { kind: "429", times: 1 },
      ],
    });

    const call = new AudienceClient(mock.clientOptions).v1.customers.upsert(contact).withResponse();
    await vi.advanceTimersByTimeAsync(10_000);

    expect((await call).attempts).toBe(3);
  });

  it("also if a retry gets no permit, with the failure before it as the cause", async () => {
    const mock = createMockService({ faults: [{ kind: "500-after" }] });
    const rateLimiter = new RateLimiter({ windows: [{ limit: 1, intervalMs: 60_000 }], maxWaitMs: 0 });
    const audience = new AudienceClient({ ...mock.clientOptions, rateLimiter });

    const failure = failureOf(audience.v1.customers.upsert(contact));
    await vi.advanceTimersByTimeAsync(10_000);

    expect(await failure).toMatchObject({
      code: "rate_limit_wait",
      outcome: "unknown",
      request: { attempts: 1 },
      cause: { code: "server", status: 500 },
    });
  });
});

describe("The outcome of an aborted write is true at any turn of the event loop", () => {
  /** More turns of the event loop than a whole call takes in process. */
  const mostTurns = 1_000;

  it.each([
    ["a key", ({ clientOptions }: MockService) => clientOptions.apiKey],
    [
      "a key function",
      ({ clientOptions }: MockService) =>
        async () =>
          clientOptions.apiKey,
    ],
  ])("with %s: it was sent if and only if its outcome says so", async (_key, apiKey) => {
    const outcomes = new Set<string>();
    for (let turn = 0; turn < mostTurns && !outcomes.has("applied"); turn++) {
      const mock = createMockService();
      const controller = new AbortController();
      const audience = new AudienceClient({ ...mock.clientOptions, apiKey: apiKey(mock) });
      const call = audience.v1.customers.upsert(contact, { signal: controller.signal }).then(
        () => "applied",
        (error: unknown) => (isAudienceError(error) ? error.outcome : error),
      );
      for (let passed = 0; passed < turn; passed++) await Promise.resolve();
      controller.abort();
      await vi.advanceTimersByTimeAsync(10_000);

      const outcome = String(await call);

      outcomes.add(outcome);
      const { contacts } = mock.organization("mock-organization");
      if (outcome === "not-sent") expect(mock.requests, `turn ${turn}`).toEqual([]);
      if (outcome === "applied") expect(contacts, `turn ${turn}`).toHaveLength(1);
    }
    expect(outcomes).toEqual(new Set(["not-sent", "unknown", "applied"]));
  });

  it.each([
    ["once its response has been read", (abort: () => void) => abort()],
    ["a turn after that", (abort: () => void) => queueMicrotask(abort)],
  ])("%s, it resolves, because it is done", async (_when, soon) => {
    const mock = createMockService();
    const controller = new AbortController();
    const hooks = { onResponse: () => soon(() => controller.abort()) };
    const audience = new AudienceClient({ ...mock.clientOptions, hooks });

    const profile = await audience.v1.customers.upsert(contact, { signal: controller.signal });

    expect(profile.attributes.email).toBe(contact.email);
    expect(mock.organization("mock-organization").contacts).toHaveLength(1);
  });
});
