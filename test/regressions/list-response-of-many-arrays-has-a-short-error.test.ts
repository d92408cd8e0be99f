import { AudienceClient } from "audience-sdk";
import { expect, it } from "vitest";
import { failureOf } from "../transport/failure.ts";

it("The error for a list response of ten thousand arrays names the first of them", async () => {
  const arrays = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`array ${at}`, [{ id: at }]]));
  const fetch = async () => Response.json(arrays);
  const audience = new AudienceClient({
    baseUrl: "https://api.example.com",
    apiKey: "k",
    rateLimiter: false,
    fetch,
  });

  const error = await failureOf(audience.v1.customers.list().then(String));

  expect(error.message).toContain("several arrays that could be the list: array 0, array 1, ");
  expect(error.message.length).toBeLessThan(1_000);
});
