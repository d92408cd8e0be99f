import { AudienceClient, UnexpectedResponseError } from "audience-sdk";
import { describe, expect, it } from "vitest";
import { offline } from "../fuzz/offline-client.ts";
import { failureOf } from "./failure.ts";
import { serve } from "./served.ts";

const clientFor = (text: string) => new AudienceClient({ ...offline, fetch: async () => new Response(text) });

const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
const profile = (attribute: string) => `{"data":{"id":"c-1","attributes":{"a":${attribute}}}}`;

// Parsing ten megabytes of brackets takes a gigabyte, and JSON.stringify of the value overflows the stack.
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

  it.each([
    ["", nested(997)],
    [", also with further brackets beside it", `[${nested(996)},{}]`],
  ])("does not include one of 1,000 levels%s", async (_, attribute) => {
    const { attributes } = await clientFor(profile(attribute)).v1.customers.get("c-1");

    expect(JSON.stringify(attributes)).toBe(`{"a":${attribute}}`);
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

describe("A 2xx whose body cannot be decompressed", () => {
  it.each(["gzip", "deflate", "br"])(
    "(%s) is an UnexpectedResponseError, and never retried",
    async (encoding) => {
      const { options, received } = await serve((outgoing) => {
        outgoing.writeHead(200, { "content-type": "application/json", "content-encoding": encoding });
        outgoing.end("this is no compressed text at all");
      });

      const error = await failureOf(new AudienceClient(options).v1.customers.get("c-1"));

      expect(error).toBeInstanceOf(UnexpectedResponseError);
      expect(error).toMatchObject({
        message: "200 on GET /api/v1/customer/{id}, but its body cannot be decompressed.",
        status: 200,
        outcome: "not-applied",
      });
      expect(received).toHaveLength(1);
    },
  );
});
