import { AudienceClient, UnexpectedResponseError } from "audience-sdk";
import { describe, expect, it } from "vitest";
import { failureOf } from "../transport/failure.ts";

function clientFor(text: string): AudienceClient {
  const fetch = async () => new Response(text);
  return new AudienceClient({ baseUrl: "https://api.example.com", apiKey: "k", rateLimiter: false, fetch });
}

const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
const profile = (attribute: string) => `{"data":{"id":"c-1","attributes":{"a":${attribute}}}}`;

// Parsing ten megabytes of brackets took a gigabyte, and JSON.stringify of the value overflowed the stack.
describe("A response that is nested deeper than 1,000 levels", () => {
  it.each([1_001, 1_500_000])("(%i) is not parsed", async (levels) => {
    const error = await failureOf(clientFor(profile(nested(levels - 3))).v1.customers.get("c-1"));

    expect(error).toBeInstanceOf(UnexpectedResponseError);
    expect(error.message).toContain("its body is nested deeper than 1000 levels");
    expect(() => JSON.stringify(error)).not.toThrow();
  });

  it("is returned as a string by events.send, which accepts any 2xx", async () => {
    const text = "[".repeat(2_000_000);
    const event = { eventName: "order placed", contact: { contactUUID: "c-1" } };

    expect((await clientFor(text).v1.events.send(event)).body).toBe(text);
  });

  it("is refused at one level too many", async () => {
    const { attributes } = await clientFor(profile(nested(997))).v1.customers.get("c-1");

    expect(JSON.stringify(attributes)).toBe(`{"a":${nested(997)}}`);
  });

  it("is refused at one level too many, also with further brackets beside it", async () => {
    const { attributes } = await clientFor(profile(`[${nested(996)},{}]`)).v1.customers.get("c-1");

    expect(JSON.stringify(attributes)).toBe(`{"a":[${nested(996)},{}]}`);
  });

  it.each([
    ["brackets in a string", JSON.stringify("[{".repeat(5_000))],
    ["brackets behind a quotation mark in a string", JSON.stringify(`\\"${"[".repeat(5_000)}`)],
    ["brackets side by side", `[${"[[]],{},".repeat(5_000)}0]`],
  ])("does not include a shallow one with many brackets: %s", async (_, value) => {
    const { attributes } = await clientFor(profile(value)).v1.customers.get("c-1");

    expect(attributes).toEqual({ a: JSON.parse(value) });
  });
});
