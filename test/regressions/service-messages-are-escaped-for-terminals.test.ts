import { AudienceClient } from "audience-sdk";
import { expect, it } from "vitest";
import { failureOf } from "../transport/failure.ts";

function clientFor(status: number, body: unknown): AudienceClient {
  const fetch = async () => Response.json(body, { status });
  return new AudienceClient({
    baseUrl: "https://api.example.com",
    apiKey: "test-key-0123456789",
    rateLimiter: false,
    fetch,
  });
}

it("A message escapes characters that would clear a screen, begin a line in a log, or reverse the text direction", async () => {
  const words = "no\u001b[2J\u009b2J\r\nERROR: all is well\u202elive\u2028";

  const error = await failureOf(clientFor(400, { message: words }).v1.customers.get("c-1"));

  expect(error.message).toBe(
    "400 on GET /api/v1/customer/{id}: no\\u001b[2J\\u009b2J\\u000d\\nERROR: all is well\\u202elive\\u2028",
  );
  expect(error).toMatchObject({ body: { message: words } });
});

it("key names in a message are escaped too", async () => {
  const error = await failureOf(clientFor(200, { "\u001b[2J": 1 }).v1.customers.list().then(String));

  expect(error.message).toContain("with the keys \\u001b[2J");
});

it("letters of every language and emoji are not escaped", async () => {
  const words = "\u0646\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 \u00fcber \u{1f469}\u200d\u{1f4bb}";

  const error = await failureOf(clientFor(400, { message: words }).v1.customers.get("c-1"));

  expect(error.message).toBe(`400 on GET /api/v1/customer/{id}: ${words}`);
});
