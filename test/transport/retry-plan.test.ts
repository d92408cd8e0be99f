// Reaches into src: the calls show only the waits of a plan.
import { ConnectionError, RateLimitError, RateLimitWaitError, ServerError } from "audience-sdk";
import { expect, it } from "vitest";
import { planRetry, type RetryPolicy } from "../../src/transport/retry-plan.ts";

const noPermit = (waitMs: number) =>
  new RateLimitWaitError({ message: "", waitMs, retryAt: new Date(waitMs) });
const answer = { message: "", outcome: "not-applied", headers: new Headers(), body: "" } as const;
const refused = new RateLimitError({ ...answer, status: 429 });
const failed = new ServerError({ ...answer, status: 500 });
const certificate = new ConnectionError({ message: "", outcome: "not-sent", reason: "tls" });
const ofRow: Partial<RetryPolicy> = { isPatient: true };
const alone: Partial<RetryPolicy> = { hasLimiter: false };
const uncounted = { isInPause: false, isCounted: false, isInFront: false };

it.each<[string, Parameters<typeof planRetry>[0], Partial<RetryPolicy>, object | undefined]>([
  ["no permit, of a call: it ends", noPermit(10), {}, undefined],
  ["no permit, of a row: it waits a second at least", noPermit(10), ofRow, { ...uncounted, waitMs: 1_000 }],
  ["no permit, of a row: half a minute at most", noPermit(90_000), ofRow, { ...uncounted, waitMs: 30_000 }],
  ["a 429: to the front, in the pause", refused, {}, { isInPause: true, isInFront: true, waitMs: 1_000 }],
  ["a 429 without a limiter: to the front", refused, alone, { isInPause: false, isInFront: true }],
  ["a 500: to the end, after 500 ms at most", failed, {}, { isInFront: false, isCounted: true, waitMs: 500 }],
  ["a certificate that is not trusted: it ends", certificate, {}, undefined],
])("After %s", (_, error, policy, expected) => {
  const usual = { maxRetries: 4, isRepeatable: true, hasLimiter: true, isPatient: false, random: () => 1 };
  const plan = planRetry(error, 0, { ...usual, ...policy });

  if (expected === undefined) expect(plan).toBeUndefined();
  else expect(plan).toMatchObject(expected);
});
