import { AudienceClient, ValidationError } from "audience-sdk";
import { expect, it } from "vitest";
import { failureOf } from "../transport/failure.ts";

const many = 130_000;
const client = (body: string) =>
  new AudienceClient({
    baseUrl: "https://api.example.com",
    apiKey: "key",
    rateLimiter: false,
    fetch: async () => new Response(body),
  });

it("100,000 issues of one input are one ValidationError", async () => {
  const eventData = Array.from({ length: many }, () => null);
  const contact = { email: "ada@example.com", custom_properties: {} };
  const properties = Object.fromEntries(eventData.map((value, at) => [`key${at}`, value]));

  const error = await failureOf(
    // A caller in JavaScript can pass this.
    client("{}").v1.customers.upsert({ ...contact, custom_properties: properties as never }),
  );

  expect(error).toBeInstanceOf(ValidationError);
  expect((error as ValidationError).issues.length).toBeGreaterThan(many);
});

it("of 100,000 totals in one response the greatest counts", async () => {
  // `total` followed by dashes and underscores is the same name.
  const names = Array.from(
    { length: many },
    (_, at) => `total${at.toString(2).replaceAll("0", "-").replaceAll("1", "_")}`,
  );
  const totals = names.map((name) => `"${name}":7`).join();

  const page = await client(`{"data":[{"id":"c-1"}],${totals}}`).v1.customers.list({ limit: 1 });

  expect(page.totalItems).toBe(7);
});
