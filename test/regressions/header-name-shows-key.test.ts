import { inspect } from "node:util";
import { AudienceClient, type ApiError } from "audience-sdk";
import { expect, it } from "vitest";
import { failureOf } from "../transport/failure.ts";

it("A key that the service echoes as a header name is redacted", async () => {
  const apiKey = "abcdefgh-ijklmnop-qrstuvwx";
  const headers = { [`x-${apiKey}`]: "1", "x-other": "2" };
  const fetch = async () => new Response("{}", { status: 400, headers });
  const audience = new AudienceClient({
    baseUrl: "https://api.example.com",
    apiKey,
    fetch,
    rateLimiter: false,
  });

  const error = (await failureOf(audience.v1.customers.get("c-1"))) as ApiError;

  expect(inspect(error, { depth: Infinity, showHidden: true })).not.toMatch(/abcdefgh|ijklmnop/);
  expect(error.headers.get("x-other")).toBe("2");
});
