import { AudienceClient, type ClientOptions, type IsRateLimited, RateLimiter, write } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { MemoryCheckpoint } from "../bulk/memory-checkpoint.ts";
import { eventually } from "../eventually.ts";
import { failureOf } from "./failure.ts";
import { contact, within } from "./fixture.ts";

const start = Date.UTC(2026, 10, 21, 12);
/** The part of the second and minute limits in force. */
const rateFactor = (limiter: RateLimiter) => limiter.snapshot().share;
const unixSeconds = start / 1_000;

beforeEach(() => void vi.useFakeTimers({ now: start }));

type Refusal = { status: number; headers?: Record<string, string>; body?: string };

/** A client whose first request is refused, and the times of all requests. */
function refusedOnce({ status, headers = {}, body = "" }: Refusal, options: ClientOptions = {}) {
  const mock = createMockService({
    organizations: [
      { id: "o", apiKeys: ["mock-key"], appId: "app", lists: [{ id: "list-1", name: "News" }], contacts: [] },
    ],
  });
  const sentAt: number[] = [];
  const fetch = async (url: string, init: RequestInit) =>
    sentAt.push(Date.now() - start) === 1 ? new Response(body, { status, headers }) : mock.fetch(url, init);
  const rateLimiter = new RateLimiter();
  const audience = new AudienceClient({ ...mock.clientOptions, fetch, rateLimiter, ...options });
  return { audience, mock, rateLimiter, sentAt };
}

const anyOf =
  (...statuses: number[]): IsRateLimited =>
  ({ status }) =>
    statuses.includes(status);

const inBody: IsRateLimited = ({ body }) => {
  const { error, waitSeconds } = Object(body) as { error?: string; waitSeconds?: number };
  if (error !== "too_many_requests") return false;
  return waitSeconds === undefined ? true : { retryAfterMs: waitSeconds * 1_000 };
};

/** How services and their gateways refuse a call for its rate, and the option that says so. */
const dialects: [string, Refusal, IsRateLimited | undefined, waitMs: number][] = [
  ["429 with Retry-After", { status: 429, headers: { "retry-after": "7" } }, undefined, 7_000],
  ["429 with RateLimit-Reset", { status: 429, headers: { "ratelimit-reset": "3" } }, undefined, 3_000],
  ["a bare 503", { status: 503 }, anyOf(503), 1_000],
  ["503 with HTML", { status: 503, body: "<html>busy</html>" }, anyOf(503), 1_000],
  [
    "420 with the Unix time of the reset",
    { status: 420, headers: { "ratelimit-reset": String(unixSeconds + 6) } },
    anyOf(420),
    6_000,
  ],
  [
    "429 with headers that are not read",
    { status: 429, headers: { "x-ratelimit-reset": "7", ratelimit: '"hour";r=0;t=7' } },
    undefined,
    1_000,
  ],
  [
    "403 of a firewall, with a header that the option reads",
    { status: 403, body: "<html>blocked</html>", headers: { "x-ratelimit-retry-after": "4" } },
    ({ headers }) => {
      const seconds = headers.get("x-ratelimit-retry-after");
      return seconds === null ? false : { retryAfterMs: Number(seconds) * 1_000 };
    },
    4_000,
  ],
  [
    "400 with a code and the wait in its body",
    { status: 400, body: '{"error":"too_many_requests","waitSeconds":9}' },
    inBody,
    9_000,
  ],
  [
    "429 with a longer wait in its body than in its header",
    { status: 429, body: '{"error":"too_many_requests","waitSeconds":8}', headers: { "retry-after": "1" } },
    inBody,
    8_000,
  ],
  [
    "200 with an error body",
    { status: 200, body: '{"error":"too_many_requests"}', headers: { "ratelimit-reset": "2" } },
    inBody,
    2_000,
  ],
  [
    "a body that goes before a header of more than an hour",
    {
      status: 429,
      body: '{"error":"too_many_requests","waitSeconds":5}',
      headers: { "retry-after": "7200" },
    },
    inBody,
    5_000,
  ],
];

describe.each(dialects)("A refusal for the rate: %s", (_, refusal, isRateLimited, waitMs) => {
  it("pauses all calls for its wait, halves the rate, and the refused call is sent again", async () => {
    const { audience, mock, rateLimiter, sentAt } = refusedOnce(refusal, { isRateLimited });

    // Not repeatable after any other error.
    const first = audience.v1.customers.upsert({ email: "ada@example.com" }).withResponse();
    await vi.advanceTimersByTimeAsync(1);
    const second = audience.v1.customers.upsert(contact);
    expect(rateLimiter.usage().pausedMs).toBeGreaterThan(waitMs - 10);
    expect(rateFactor(rateLimiter)).toBe(0.5);
    await vi.advanceTimersByTimeAsync(waitMs + 2_000);

    expect(await first).toMatchObject({ attempts: 2 });
    await second;
    expect(sentAt).toHaveLength(3);
    for (const at of sentAt.slice(1)) expect(at).toBeGreaterThanOrEqual(waitMs);
    expect(sentAt[1]).toBeLessThan(waitMs + 10);
    expect(mock.requests.map(({ applied }) => applied)).toEqual([true, true]);
  });

  it("is a RateLimitError with the status that came, and was not applied", async () => {
    const { audience } = refusedOnce(refusal, { isRateLimited, maxRetries: 0 });

    const error = await failureOf(audience.v1.contactGroups.addContact("list-1", contact));

    expect(error).toMatchObject({ status: refusal.status, outcome: "not-applied", code: "rate_limit" });
    if (waitMs > 1_000) expect(error).toMatchObject({ retryAfterMs: waitMs });
  });

  it("puts a row of a run back into the queue", async () => {
    const { audience, sentAt } = refusedOnce(refusal, { isRateLimited });

    const run = audience.bulk([contact], (row) => write.v1.contactGroups.addContact("list-1", row));
    const summary = run.summary();
    await vi.advanceTimersByTimeAsync(waitMs + 3_000);

    expect(await summary).toMatchObject({ succeeded: 1, failed: 0, unknown: 0 });
    expect(sentAt).toHaveLength(2);
  });
});

describe("isRateLimited", () => {
  it("gets the status, the headers and the body as an ApiError shows them, without keys", async () => {
    const seen: unknown[] = [];
    const { audience } = refusedOnce(
      {
        status: 403,
        headers: { "x-key": "mock-key", "x-rule": "7" },
        body: '{"key":"mock-key"}',
      },
      {
        isRateLimited: ({ status, headers, body }) => {
          seen.push([status, headers.get("x-key"), headers.get("x-rule"), body]);
          return false;
        },
      },
    );
    expect(await failureOf(audience.v1.customers.get("c-1"))).toMatchObject({ code: "permission" });

    expect(seen).toEqual([[403, "[redacted]", "7", { key: "[redacted]" }]]);
  });

  it.each<[string, () => unknown, string]>([
    [
      "throws",
      () => {
        throw new Error("no rule");
      },
      "isRateLimited threw no rule.",
    ],
    [
      "throws a person's address",
      () => {
        throw new Error("no rule for ada@example.com at +49 170 1234567");
      },
      "isRateLimited threw no rule for … at +….",
    ],
    ["returns a Promise", async () => false, "isRateLimited returned a Promise: it must return"],
    ["returns nothing", () => undefined, "isRateLimited returned undefined: it must return"],
    ["returns an object", () => ({ waitMs: 5 }), "isRateLimited returned an object: it must return"],
    [
      "returns no wait",
      () => ({ retryAfterMs: NaN }),
      "isRateLimited returned { retryAfterMs: NaN }: it must",
    ],
    ["returns a text", () => ({ retryAfterMs: "5" }), "isRateLimited returned { retryAfterMs: a string }"],
    ["returns a negative wait", () => ({ retryAfterMs: -1 }), "{ retryAfterMs } with milliseconds from 0"],
  ])(
    "that %s ends the call with a ConfigurationError, and the write may have been applied",
    async (_, returned, message) => {
      // A caller in JavaScript can pass this.
      const isRateLimited = returned as unknown as IsRateLimited;
      const { audience, sentAt } = refusedOnce({ status: 500 }, { isRateLimited });

      const error = await failureOf(audience.v1.events.send({ eventName: "e", contact }));

      expect(error).toMatchObject({ code: "configuration", message: expect.stringContaining(message) });
      expect(error.outcome).toBe("unknown");
      expect(sentAt).toHaveLength(1);
    },
  );
});

describe("Without isRateLimited", () => {
  it("a 503 with Retry-After pauses the limiter for everybody, at the full rate", async () => {
    const { audience, rateLimiter, sentAt } = refusedOnce({ status: 503, headers: { "retry-after": "6" } });

    const first = audience.v1.customers.upsert(contact);
    await vi.advanceTimersByTimeAsync(1);
    const second = audience.v1.events.send({ eventName: "e", contact: { email: "eve@example.com" } });
    expect(rateFactor(rateLimiter)).toBe(1);
    await vi.advanceTimersByTimeAsync(20_000);
    await Promise.all([first, second]);

    for (const at of sentAt.slice(1)) expect(at).toBeGreaterThanOrEqual(6_000);
  });

  it("a bare 503 pauses nobody", async () => {
    const { audience, rateLimiter } = refusedOnce({ status: 503 }, { maxRetries: 0 });

    await failureOf(audience.v1.customers.get("c-1"));

    expect(rateLimiter.usage().pausedMs).toBe(0);
  });

  it("only a 2xx speeds the limiter up", async () => {
    const { audience, rateLimiter } = refusedOnce({ status: 429 });
    await within(1_500, audience.v1.customers.upsert(contact));
    const factor = rateFactor(rateLimiter);

    for (let failure = 0; failure < 10; failure++) {
      await within(300, failureOf(audience.v1.customers.get("nobody")));
    }
    expect(rateFactor(rateLimiter)).toBe(factor);
    for (let success = 0; success < 10; success++) {
      await within(300, audience.v1.customers.upsert(contact));
    }

    expect(rateFactor(rateLimiter)).toBeCloseTo(factor + 10 / 200);
  });
});

/** A service that refuses the first call with a pause of two seconds, and a log of the arrivals with their keys. */
function refusingOnce(until?: Promise<void>) {
  const arrived: { at: number; url: string; key: string | null }[] = [];
  const startedAt = performance.now();
  const fetch = async (url: string, init: RequestInit) => {
    const key = new Headers(init.headers).get("x-api-key");
    arrived.push({ at: performance.now() - startedAt, url: url.slice(-1), key });
    if (arrived.length > 1) return Response.json({ data: { id: "1" } });
    await until;
    return new Response("{}", { status: 429, headers: { "retry-after": "2" } });
  };
  return { arrived, options: { baseUrl: "https://api.example.com", apiKey: "abcdefgh", fetch } };
}

const later = (delayMs: number) => new Promise<void>((resolve) => void setTimeout(resolve, delayMs));

describe("A call that has its permit, and is not sent yet when a 429 comes,", () => {
  it("waits for the end of its pause, if it waited for its key, and asks for a new key then", async () => {
    const { arrived, options } = refusingOnce();
    let asked = 0;
    const rateLimiter = new RateLimiter();
    const apiKey = async () => {
      const key = `key-number-${++asked}`;
      if (asked > 1) await later(300);
      return key;
    };
    const audience = new AudienceClient({ ...options, apiKey, rateLimiter });

    const early = Array.from({ length: 5 }, (_, index) => audience.v1.customers.get(`${index}`));
    await vi.advanceTimersByTimeAsync(400);
    expect(rateLimiter.usage()).toMatchObject({ inFlight: 0, queued: 5 });
    const late = audience.v1.customers.get("9");
    await vi.advanceTimersByTimeAsync(10_000);
    await Promise.all([...early, late]);

    expect(arrived[1]!.at).toBeGreaterThanOrEqual(2_000);
    // Calls that had a permit before the pause go first.
    expect(arrived.map(({ url }) => url)).toEqual(["0", "0", "1", "2", "3", "4", "9"]);
    // The client asked for five keys before the pause, and used only the first.
    expect(arrived.map(({ key }) => Number(key?.split("-").at(-1)) > 5)).toEqual([
      false,
      ...Array<boolean>(6).fill(true),
    ]);
  });

  it("waits for the end of its pause behind calls that came earlier, if it is a row that waited for its checkpoint", async () => {
    // The hashes of rows need real time.
    vi.useRealTimers();
    const waiting: (() => void)[] = [];
    let isSlow = true;
    let respond = (): void => undefined;
    const { arrived, options } = refusingOnce(new Promise<void>((resolve) => void (respond = resolve)));
    const rateLimiter = new RateLimiter({ windows: [{ limit: 5, intervalMs: 1_000 }], reserve: 0 });
    const audience = new AudienceClient({ ...options, rateLimiter });
    let begun = 0;
    /** The records of all rows but the first are slow. */
    class SlowCheckpoint extends MemoryCheckpoint {
      override async put(name: string, line: string, flush: boolean) {
        if (name.startsWith("row:") && isSlow && ++begun > 1)
          await new Promise<void>((resolve) => void waiting.push(resolve));
        await super.put(name, line, flush);
      }
    }

    const run = audience
      .bulk([0, 1, 2, 3, 4], (row) => write.v1.customers.upsert({ email: `${row}@example.com` }), {
        checkpoint: new SlowCheckpoint(),
        key: String,
      })
      .summary();
    await eventually(() => expect([arrived.length, waiting.length]).toEqual([1, 4]));
    respond();
    await eventually(() => expect(rateLimiter.usage().pausedMs).toBeGreaterThan(0));
    isSlow = false;
    for (const isRecorded of waiting) isRecorded();
    await eventually(() => expect(rateLimiter.usage()).toMatchObject({ inFlight: 0, queued: 4 }));
    await audience.v1.customers.get("9");

    expect(await run).toMatchObject({ succeeded: 5 });
    expect(arrived).toHaveLength(7);
    expect(arrived[1]).toMatchObject({ url: "9" });
    expect(arrived[1]!.at).toBeGreaterThanOrEqual(2_000);
  });
});

/** A service that refuses the first call: the headers arrive at once, the body two seconds later. */
function refusingSlowly(retryAfter: string) {
  const arrived: { at: number; name: string }[] = [];
  const startedAt = performance.now();
  const fetch = async (url: string) => {
    arrived.push({ at: performance.now() - startedAt, name: url.slice(url.lastIndexOf("/") + 1) });
    if (arrived.length > 1) return Response.json({ data: { id: "1" } });
    const body = new ReadableStream({
      start: (controller) => void setTimeout(() => controller.close(), 2_000),
    });
    return new Response(body, { status: 429, headers: { "retry-after": retryAfter } });
  };
  const rateLimiter = new RateLimiter();
  const audience = new AudienceClient({
    baseUrl: "https://api.example.com",
    apiKey: "abcdefgh",
    fetch,
    rateLimiter,
  });
  return { arrived, audience, rateLimiter };
}

describe("The pause of a 429", () => {
  it("begins with its headers, even if its body is slow, and its retry waits from then on", async () => {
    const { arrived, audience, rateLimiter } = refusingSlowly("3");

    const calls = [audience.v1.customers.get("refused")];
    for (let number = 1; number <= 7; number++) {
      await vi.advanceTimersByTimeAsync(200);
      expect(rateLimiter.usage().pausedMs).toBe(3_000 - 200 * number);
      calls.push(audience.v1.customers.get(`${number}`));
    }
    await vi.advanceTimersByTimeAsync(1_500);
    // The end of the body changes nothing.
    expect(rateLimiter.usage().pausedMs).toBe(100);
    expect(arrived).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(5_000);
    await Promise.all(calls);

    expect(arrived.map(({ name }) => name)).toEqual(["refused", "refused", ..."1234567"]);
    expect(arrived[1]!.at).toBeGreaterThanOrEqual(3_000);
    expect(arrived[1]!.at).toBeLessThan(3_005);
    // The rate is halved only once for one 429.
    expect(arrived.filter(({ at }) => at >= 3_000 && at < 4_000)).toHaveLength(5);
  });

  it("delays no other call for longer, if it ends before its body", async () => {
    const { arrived, audience } = refusingSlowly("1");

    const calls = ["refused", "other"].map((name) => audience.v1.customers.get(name));
    await vi.advanceTimersByTimeAsync(500);
    calls.push(audience.v1.customers.get("later"));
    await vi.advanceTimersByTimeAsync(10_000);
    await Promise.all(calls);

    const at = (name: string) => arrived.findLast((call) => call.name === name)!.at;
    expect(at("other")).toBe(0);
    expect(at("later")).toBeGreaterThanOrEqual(1_000);
    expect(at("later")).toBeLessThan(1_005);
    expect(at("refused")).toBeGreaterThanOrEqual(2_000);
    expect(at("refused")).toBeLessThan(2_005);
  });
});

describe("A 429 that comes although the limiter has kept to its limits", () => {
  /** Five reads, of which the first three requests are refused. */
  async function fiveReads(rateLimiter: RateLimiter | false, logLevel: "warn" | "error" = "warn") {
    let refusals = 0;
    const lines: string[] = [];
    const audience = new AudienceClient({
      baseUrl: "https://api.example.com",
      apiKey: "abcdefgh",
      rateLimiter,
      logLevel,
      logger: { warn: (line) => void lines.push(line.replace(/\(.*?\) /, "")) },
      fetch: async () =>
        ++refusals <= 3
          ? new Response("{}", { status: 429, headers: { "retry-after": "1" } })
          : Response.json({ data: { id: "1" } }),
    });
    const reads = [1, 2, 3, 4, 5].map(() => audience.v1.customers.get("1"));
    await vi.advanceTimersByTimeAsync(60_000);
    await Promise.all(reads);
    return lines;
  }

  const line =
    "audience-sdk: v1.customers.get, attempt 1 was refused for its rate, though the limiter has kept to its limits: another program behind this address, or another limit, is the likely cause (with a store, also an outage of it)";

  it("is one line at warn for each limiter, whichever of its clients has a logger for it", async () => {
    const rateLimiter = new RateLimiter();
    expect(await fiveReads(rateLimiter, "error")).toEqual([]);
    expect(await fiveReads(rateLimiter)).toEqual([line]);
    expect(await fiveReads(rateLimiter)).toEqual([]);
    expect(await fiveReads(new RateLimiter())).toEqual([line]);
  });

  it("is no line of a client without a limiter: its calls may well be too many", async () => {
    expect(await fiveReads(false)).toEqual([]);
  });
});
