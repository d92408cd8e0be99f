import { AudienceClient, type RateLimitError } from "audience-sdk";
import { expect, it } from "vitest";
import { failureOf } from "../transport/failure.ts";

// Date.parse reads the first three as the year 2001, and a date without a zone as local time.
it.each([
  ["-5", undefined],
  ["soon 5", undefined],
  ["1 2", undefined],
  ["Sat Nov 21 12:00:10 2026", 10_000],
  ["Saturday, 21-Nov-26 12:00:10 GMT", 10_000],
  ["Sat, 21 Nov 2026 12:00:10 GMT", 10_000],
])("Retry-After %j means a wait of %s ms", async (retryAfter, expected) => {
  const zone = process.env["TZ"];
  process.env["TZ"] = "Asia/Tokyo";
  try {
    const headers = { "retry-after": retryAfter, date: "Sat, 21 Nov 2026 12:00:00 GMT" };
    const fetch = async () => new Response("{}", { status: 429, headers });
    const audience = new AudienceClient({
      baseUrl: "https://api.example.com",
      apiKey: "k",
      fetch,
      rateLimiter: false,
    });

    const error = (await failureOf(audience.v1.customers.get("c-1", { maxRetries: 0 }))) as RateLimitError;

    expect(error.retryAfterMs).toBe(expected);
  } finally {
    if (zone === undefined) delete process.env["TZ"];
    else process.env["TZ"] = zone;
  }
});
