import { AudienceClient, type ClientOptions, isAudienceError, RateLimiter } from "audience-sdk";
import { createMockService, type MockService } from "audience-sdk/mock";
import { describe, expect, it, vi } from "vitest";
import { failureOf } from "./failure.ts";
import { contact, mockedClient, offline, useFakeTime, within } from "./fixture.ts";

useFakeTime();

/** The end of an attempt: a status, a response, or a failed connection. */
type End = number | "refused" | "dns" | "tls" | "reset" | "hang" | "unexpected";

const codes: Partial<Record<End, string>> = {
  refused: "ECONNREFUSED",
  dns: "ENOTFOUND",
  tls: "CERT_HAS_EXPIRED",
  reset: "ECONNRESET",
};

async function respond(end: End): Promise<Response> {
  if (end === "hang") return new Promise(() => {});
  if (end === "unexpected") return new Response("<html>", { status: 200 });
  if (typeof end === "number") return new Response("{}", { status: end, headers: { location: "/" } });
  throw new TypeError("fetch failed", { cause: Object.assign(new Error(end), { code: codes[end] }) });
}

/** A client whose attempts have these ends, one after the other. */
function ending(ends: readonly End[], options: ClientOptions = {}) {
  let count = 0;
  const fetch = () => respond(ends[count++] ?? expect.fail("one attempt too many"));
  return new AudienceClient({
    ...offline,
    fetch,
    timeoutMs: 1_000,
    maxRetries: ends.length - 1,
    ...options,
  });
}

async function outcomeOf(call: Promise<unknown>): Promise<[outcome: string, attempts: number | undefined]> {
  const { outcome, request } = await within(600_000, failureOf(call));
  return [outcome, request?.attempts];
}

describe("The outcome of a write", () => {
  const redirects = [300, 301, 302, 303, 307, 308];
  const refusals = [400, 401, 402, 403, 404, 405, 407, 409, 410, 413, 415, 418, 422, 451];
  const notApplied: readonly End[] = [...redirects, ...refusals, 429];
  const unknown: readonly End[] = ["unexpected", 408, 500, 501, 502, 503, 504, 522, "reset", "hang"];
  const neverRetried: readonly End[] = ["tls", ...redirects, ...refusals, "unexpected"];

  it.each([
    ...(["refused", "dns", "tls"] as const).map((end) => [end, "not-sent"] as const),
    ...notApplied.map((end) => [end, "not-applied"] as const),
    ...unknown.map((end) => [end, "unknown"] as const),
  ])("%s: %s", async (end, outcome) => {
    expect(await outcomeOf(ending([end]).v1.customers.upsert(contact))).toEqual([outcome, 1]);
  });

  it.each(neverRetried)("is that of the first attempt, as none follows it: %s", async (end) => {
    const [read, write] = [1, 2].map(() => ending([end], { maxRetries: 4 }).v1.customers);

    expect((await outcomeOf(read!.get("c-1")))[1]).toBe(1);
    expect((await outcomeOf(write!.upsert(contact)))[1]).toBe(1);
  });

  it.each([...notApplied, ...unknown].map((end) => [end]))("a GET is never unknown: %s", async (end) => {
    expect(await outcomeOf(ending([end]).v1.customers.get("c-1"))).toEqual(["not-applied", 1]);
  });

  it.each([
    ...[...redirects, ...refusals, 429].map((status) => [status, "not-applied"] as const),
    ...[201, 408, 500, 503].map((status) => [status, "unknown"] as const),
  ])(
    "is told by the head of a response whose body the caller does not wait for: %i: %s",
    async (status, outcome) => {
      const fetch = async () => new Response(new ReadableStream(), { status });
      const { v1 } = ending([status], { fetch });
      const stop = new AbortController();
      const aborted = failureOf(v1.customers.upsert(contact, { signal: stop.signal }));
      await vi.advanceTimersByTimeAsync(100);
      stop.abort();

      expect(await aborted).toMatchObject({ code: "aborted", outcome });
      const late = within(100, failureOf(v1.customers.upsert(contact, { deadlineMs: 100 })));
      expect(await late).toMatchObject({ code: "timeout", outcome });
    },
  );

  it("404 of addContact: unknown, as the contact may have been created; of any other write not-applied", async () => {
    const { v1 } = ending([404, 404]);

    expect(await outcomeOf(v1.contactGroups.addContact("l", contact))).toEqual(["unknown", 1]);
    expect(await outcomeOf(v1.customers.upsert(contact))).toEqual(["not-applied", 1]);

    const stalling = ending([404], {
      fetch: async () => new Response(new ReadableStream(), { status: 404 }),
    });
    const late = stalling.v1.contactGroups.addContact("l", contact, { deadlineMs: 100 });
    expect(await outcomeOf(late)).toEqual(["unknown", 1]);
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
    [[408, 307], "unknown"],
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
    const closing = ending([500, 500]);
    let asked = 0;
    const apiKey = () => (asked++ === 0 ? "k" : "");
    const upsert = ({ v1 }: AudienceClient, options = {}) => failureOf(v1.customers.upsert(contact, options));
    const ended = Promise.all([
      upsert(ending([500, 500]), { signal: stop.signal }),
      upsert(ending([500, 500]), { deadlineMs: 100 }),
      upsert(closing),
      upsert(ending([500, 500], { apiKey })),
    ]);
    await vi.advanceTimersByTimeAsync(10);
    stop.abort();
    await closing.close();

    const errors = await within(5_000, ended);
    expect(errors.map(({ code }) => code)).toEqual(["aborted", "timeout", "closed", "configuration"]);
    expect(errors.map(({ outcome, request }) => [outcome, request?.attempts])).toEqual(
      errors.map(() => ["unknown", 1]),
    );
  });

  it.each([
    [{ kind: "500-after" }, "unknown", 500],
    [{ kind: "429", retryAfter: 4 }, "not-applied", 429],
  ] as const)(
    "also if a retry gets no permit, with the failure as the cause: %j",
    async (fault, outcome, status) => {
      const rateLimiter = new RateLimiter({ windows: [{ limit: 1, intervalMs: 60_000 }], maxWaitMs: 0 });
      const { mock, audience } = mockedClient({ faults: [fault] }, { rateLimiter });

      expect(await within(10_000, failureOf(audience.v1.customers.upsert(contact)))).toMatchObject({
        code: "rate_limit_wait",
        outcome,
        request: { attempts: 1 },
        cause: { status },
      });
      expect(mock.requests).toHaveLength(1);
    },
  );
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
      const controller = new AbortController();
      const mock = createMockService();
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
    const controller = new AbortController();
    const hooks = { onResponse: () => soon(() => controller.abort()) };
    const { mock, audience } = mockedClient({}, { hooks });

    const profile = await audience.v1.customers.upsert(contact, { signal: controller.signal });

    expect(profile.attributes.email).toBe(contact.email);
    expect(mock.organization("mock-organization").contacts).toHaveLength(1);
  });
});
