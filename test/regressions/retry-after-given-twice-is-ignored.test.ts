import { AudienceClient, type RateLimitError } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { expect, it } from "vitest";
import { failureOf } from "../transport/failure.ts";

// A gateway adds its own header to the service's: `fetch` joins the two by a comma, which a date holds too.
it.each([
  ["60, 60", 60_000],
  ["1, 60", 60_000],
  ["60,1", 60_000],
  ["soon, 60", undefined],
  ["60, soon", 60_000],
  ["Sat, 21 Nov 2026 12:00:10 GMT, Sat, 21 Nov 2026 12:00:20 GMT", 20_000],
  ["5, Saturday, 21-Nov-26 12:00:10 GMT", 10_000],
])("Of a Retry-After given twice (%j) the longest wait counts", async (retryAfter, expected) => {
  const headers = { "retry-after": retryAfter, date: "Sat, 21 Nov 2026 12:00:00 GMT" };
  const fetch = async () => new Response("{}", { status: 429, headers });
  const audience = new AudienceClient({ ...createMockService().clientOptions, fetch });

  const error = (await failureOf(audience.v1.customers.get("c-1", { maxRetries: 0 }))) as RateLimitError;

  expect(error.retryAfterMs).toBe(expected);
});
