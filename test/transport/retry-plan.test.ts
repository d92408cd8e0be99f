// Reaches into `src`: the plan is a pure function, and a call shows only the waits, never the decision behind them.
import {
  AuthenticationError,
  BadRequestError,
  ConnectionError,
  NotFoundError,
  RateLimitError,
  RateLimitWaitError,
  RedirectError,
  ServerError,
  TimeoutError,
  UnexpectedResponseError,
  type AudienceError,
  type ConnectionFailureReason,
  type Outcome,
} from "audience-sdk";
import { describe, expect, it } from "vitest";
import type { FailedEnd } from "../../src/transport/call.ts";
import { planRetry, type RetryPolicy } from "../../src/transport/interceptors/retry-plan.ts";

const hourMs = 3_600_000;

/** A call of the user that may be executed twice, on a limiter, with four retries and the middle of each backoff. */
const call: RetryPolicy = {
  maxRetries: 4,
  isRepeatable: true,
  hasLimiter: true,
  isPatient: false,
  maxWaitMs: undefined,
  random: () => 0.5,
};

const message = "failed";
const response = (status: number, retryAfterMs?: number) => ({
  message,
  outcome: "unknown" as const,
  status,
  headers: new Headers(),
  body: {},
  retryAfterMs,
});
const connection = (reason: ConnectionFailureReason, outcome: Outcome) =>
  new ConnectionError({ message, outcome, reason });
const failed = (error: AudienceError): FailedEnd => ({ kind: "failed", error });
const refused = (retryAfterMs?: number): FailedEnd => ({
  kind: "refused",
  error: new RateLimitError(response(429, retryAfterMs)),
});
const noPermit = (waitMs: number): FailedEnd => ({
  kind: "no-permit",
  error: new RateLimitWaitError({ message, waitMs, retryAt: new Date(0) }),
});
const newKey: FailedEnd = {
  kind: "new-key",
  error: new AuthenticationError(response(401)),
  key: "the next key",
};

const soon = { waitMs: 375, isInPause: false, isCounted: true, isInFront: false };
const paused = (waitMs: number) => ({ waitMs, isInPause: true, isCounted: true, isInFront: true });
const uncounted = (waitMs: number) => ({ waitMs, isInPause: false, isCounted: false, isInFront: false });
const never = undefined;

/** Per row: the end; what follows for a call that may be executed twice; for one that may not; for a row of bulk. */
const ends: readonly [string, FailedEnd, unknown, unknown, unknown][] = [
  ["a refused connection", failed(connection("refused", "not-sent")), soon, soon, soon],
  ["a name that is not found", failed(connection("dns", "not-sent")), soon, soon, soon],
  ["a TLS failure", failed(connection("tls", "not-sent")), never, never, never],
  ["a reset", failed(connection("reset", "unknown")), soon, never, soon],
  ["a timeout", failed(new TimeoutError({ message, outcome: "unknown", timeoutMs: 1 })), soon, never, soon],
  ["408", failed(new BadRequestError(response(408))), soon, never, soon],
  ["500", failed(new ServerError(response(500))), soon, never, soon],
  [
    "503 with a Retry-After of two seconds",
    failed(new ServerError(response(503, 2_000))),
    { ...soon, waitMs: 2_000 },
    never,
    { ...soon, waitMs: 2_000 },
  ],
  ["503 that asks for over an hour", failed(new ServerError(response(503, hourMs + 1))), never, never, never],
  ["400", failed(new BadRequestError(response(400))), never, never, never],
  ["401", failed(new AuthenticationError(response(401))), never, never, never],
  ["401, and another key", newKey, uncounted(0), uncounted(0), uncounted(0)],
  ["404", failed(new NotFoundError(response(404))), never, never, never],
  ["a redirect", failed(new RedirectError({ message, status: 302 })), never, never, never],
  [
    "an unreadable 2xx",
    failed(new UnexpectedResponseError({ message, outcome: "unknown", status: 200, body: "" })),
    never,
    never,
    never,
  ],
  ["429 without a wait", refused(), paused(1_000), paused(1_000), uncounted(1_000)],
  ["429 that asks for two seconds", refused(2_000), paused(2_000), paused(2_000), uncounted(2_000)],
  ["429 that asks for an hour", refused(hourMs), paused(hourMs), paused(hourMs), uncounted(hourMs)],
  ["429 that asks for over an hour", refused(hourMs + 1), never, never, never],
  [
    "429 with a wait of 0, which is no pause",
    refused(0),
    { ...soon, isInFront: true },
    { ...soon, isInFront: true },
    uncounted(1_000),
  ],
  ["no permit within maxWaitMs", noPermit(5_000), never, never, uncounted(5_000)],
  ["no permit for an hour, as of a full queue", noPermit(hourMs), never, never, uncounted(30_000)],
  ["no permit for a moment", noPermit(1), never, never, uncounted(1_000)],
];

describe("What follows an attempt is decided by its end", () => {
  it.each(ends)("%s", (_, end, repeatable, unrepeatable, row) => {
    expect(planRetry(end, 0, call)).toEqual(repeatable);
    expect(planRetry(end, 0, { ...call, isRepeatable: false })).toEqual(unrepeatable);
    // A row waits as long as necessary, and is repeatable here.
    expect(planRetry(end, 0, { ...call, isPatient: true, maxWaitMs: Infinity })).toEqual(row);
  });

  it.each(ends)("%s, after the last retry: only what does not count is tried again", (_, end) => {
    const plans = [call, { ...call, isPatient: true, maxWaitMs: Infinity }].map((policy) =>
      planRetry(end, call.maxRetries, policy),
    );
    for (const plan of plans) expect(plan?.isCounted ?? false).toBe(false);
  });

  it("A row with a `maxWaitMs` of its own does not wait longer", () => {
    expect(planRetry(noPermit(5_000), 0, { ...call, isPatient: true, maxWaitMs: 2_000 })).toBeUndefined();
  });
});

describe("The backoff doubles from half a second to thirty seconds, half of it at random", () => {
  const reset = failed(connection("reset", "unknown"));
  it.each([
    [0, 250, 500],
    [1, 500, 1_000],
    [2, 1_000, 2_000],
    [5, 8_000, 16_000],
    [6, 15_000, 30_000],
    [40, 15_000, 30_000],
  ])("after %i retries it takes %i to %i ms", (retries, shortestMs, longestMs) => {
    const waitMs = (random: number) =>
      planRetry(reset, retries, { ...call, maxRetries: 100, random: () => random })?.waitMs;
    expect([waitMs(0), waitMs(1)]).toEqual([shortestMs, longestMs]);
  });

  it("Without a limiter a refused call waits itself, at least as long as the service asks", () => {
    const policy = { ...call, hasLimiter: false };
    expect(planRetry(refused(100), 0, policy)).toEqual({ ...soon, isInFront: true });
    expect(planRetry(refused(2_000), 0, policy)).toEqual({ ...soon, waitMs: 2_000, isInFront: true });
  });
});
