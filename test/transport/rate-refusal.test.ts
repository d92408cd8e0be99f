import {
  AudienceClient,
  ConfigurationError,
  PermissionError,
  RateLimiter,
  RateLimitError,
  write,
  type ClientOptions,
  type IsRateLimited,
} from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { failureOf } from "./failure.ts";

const start = Date.UTC(2026, 10, 21, 12);
const contact = { email: "ada@example.com", email_opt_in: "SUBSCRIBED" } as const;
/** The part of the second and minute limits in force. */
const rateFactor = (limiter: RateLimiter) => limiter.snapshot().share;
const unixSeconds = start / 1_000;

beforeEach(() => void vi.useFakeTimers({ now: start }));
afterEach(() => void vi.useRealTimers());

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
    "429 with the Unix time of the reset in milliseconds",
    { status: 429, headers: { "ratelimit-reset": String((unixSeconds + 6) * 1_000) } },
    anyOf(429),
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
    "200 with an error body",
    { status: 200, body: '{"error":"too_many_requests"}', headers: { "ratelimit-reset": "2" } },
    inBody,
    2_000,
  ],
  [
    "a body that goes before the header",
    { status: 403, body: '{"error":"too_many_requests","waitSeconds":5}', headers: { "retry-after": "60" } },
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
    expect(mock.requests.map(({ applied }) => applied)).toEqual([true, true]);
  });

  it("is a RateLimitError with the status that came, and was not applied", async () => {
    const { audience } = refusedOnce(refusal, { isRateLimited, maxRetries: 0 });

    const error = await failureOf(audience.v1.contactGroups.addContact("list-1", contact));

    expect(error).toBeInstanceOf(RateLimitError);
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

it("Ten refusals of one burst are one sign of being too fast, also with Retry-After: 0", async () => {
  const refused = () => new Response("", { status: 429, headers: { "retry-after": "0" } });
  const mock = createMockService();
  let sent = 0;
  const fetch = async (url: string, init: RequestInit) => {
    const isRefused = ++sent <= 10;
    await new Promise((resolve) => setTimeout(resolve, sent * 20));
    return isRefused ? refused() : mock.fetch(url, init);
  };
  const rateLimiter = new RateLimiter();
  const audience = new AudienceClient({ ...mock.clientOptions, fetch, rateLimiter, maxRetries: 0 });

  const calls = Array.from({ length: 10 }, () => failureOf(audience.v1.contactGroups.get("g")));
  await vi.advanceTimersByTimeAsync(400);
  await Promise.all(calls);

  expect(rateFactor(rateLimiter)).toBe(0.5);
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
    expect(await failureOf(audience.v1.customers.get("c-1"))).toBeInstanceOf(PermissionError);

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

      expect(error).toBeInstanceOf(ConfigurationError);
      expect(error.message).toContain(message);
      expect(error.outcome).toBe("unknown");
      expect(sentAt).toHaveLength(1);
    },
  );

  it("that is no function is refused", () => {
    // A caller in JavaScript can pass this.
    const isRateLimited = 403 as unknown as IsRateLimited;

    expect(() => refusedOnce({ status: 500 }, { isRateLimited })).toThrow(
      "isRateLimited must be a function, not a number",
    );
  });

  it("extends the pause of a 429 whose body names a longer wait", async () => {
    const { audience, sentAt } = refusedOnce(
      { status: 429, headers: { "retry-after": "1" }, body: '{"error":"too_many_requests","waitSeconds":8}' },
      { isRateLimited: inBody },
    );

    const call = audience.v1.customers.upsert(contact);
    await vi.advanceTimersByTimeAsync(20_000);
    await call;

    expect(sentAt[1]).toBeGreaterThanOrEqual(8_000);
  });
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

  it("a 500 with Retry-After pauses nobody", async () => {
    const response = { status: 500, headers: { "retry-after": "6" } };
    const { audience, rateLimiter } = refusedOnce(response, { maxRetries: 0 });

    await failureOf(audience.v1.customers.get("c-1"));

    expect(rateLimiter.usage().pausedMs).toBe(0);
  });

  it("a bare 503 pauses nobody", async () => {
    const { audience, rateLimiter } = refusedOnce({ status: 503 }, { maxRetries: 0 });

    await failureOf(audience.v1.customers.get("c-1"));

    expect(rateLimiter.usage().pausedMs).toBe(0);
  });

  it("only a 2xx speeds the limiter up", async () => {
    const { audience, rateLimiter } = refusedOnce({ status: 429 });
    const call = audience.v1.customers.upsert(contact);
    await vi.advanceTimersByTimeAsync(1_500);
    await call;
    const factor = rateFactor(rateLimiter);

    for (let failure = 0; failure < 10; failure++) {
      const ended = failureOf(audience.v1.customers.get("nobody"));
      await vi.advanceTimersByTimeAsync(300);
      await ended;
    }
    expect(rateFactor(rateLimiter)).toBe(factor);
    for (let success = 0; success < 10; success++) {
      const ended = audience.v1.customers.upsert(contact);
      await vi.advanceTimersByTimeAsync(300);
      await ended;
    }

    expect(rateFactor(rateLimiter)).toBeCloseTo(factor + 10 / 200);
  });
});
