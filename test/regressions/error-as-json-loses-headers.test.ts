import { AudienceClient } from "audience-sdk";
import { expect, it } from "vitest";
import { failureOf } from "../transport/failure.ts";

const clientFor = (body: string, headers: Record<string, string> = {}) =>
  new AudienceClient({
    baseUrl: "https://api.example.com",
    apiKey: "k",
    rateLimiter: false,
    fetch: async () => new Response(body, { status: 400, headers }),
  });

it("An ApiError as JSON holds the response's headers", async () => {
  const error = await failureOf(clientFor("{}", { "x-trace": "t-1" }).v1.customers.get("c-1"));

  expect(JSON.parse(JSON.stringify(error))).toMatchObject({ headers: { "x-trace": "t-1" } });
});

it("A body that is nested too deeply for JSON.stringify is shown as a string", async () => {
  const body = "[".repeat(30_000) + "]".repeat(30_000);

  const error = await failureOf(clientFor(body).v1.customers.get("c-1"));

  expect(error).toMatchObject({ body });
  expect(() => JSON.stringify(error)).not.toThrow();
});
