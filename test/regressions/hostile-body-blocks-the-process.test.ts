import { ApiError, AudienceClient, UnexpectedResponseError } from "audience-sdk";
import { expect, it } from "vitest";
import { failureOf } from "../transport/failure.ts";

const key = "test-key-0123456789";

/** The error of a call with this response, and the processor time that it took. */
async function read(status: number, text: string) {
  const { v1 } = new AudienceClient({
    baseUrl: "https://api.example.com",
    apiKey: key,
    rateLimiter: false,
    maxRetries: 0,
    fetch: async () => new Response(text, { status }),
  });
  const started = process.cpuUsage();
  const error = await failureOf(v1.customers.get("c-1"));
  const { user, system } = process.cpuUsage(started);
  return { error, tookMs: (user + system) / 1_000 };
}

it("an error body of 64 KiB of unclosed quotation marks is scanned once", async () => {
  const { error, tookMs } = await read(400, `"${'\\"'.repeat(32_000)}`);

  expect(error).toBeInstanceOf(ApiError);
  expect(tookMs).toBeLessThan(1_000);
});

it("a body of 10 MB that is no JSON is searched for keys only in the part that is shown", async () => {
  const { error, tookMs } = await read(200, "x".repeat(10_000_000));

  expect(error).toBeInstanceOf(UnexpectedResponseError);
  expect(tookMs).toBeLessThan(1_000);
});

it.each([0, 1, 4, 7, 8, 12, 18])(
  "a key that begins %i characters before the end of the part that is shown is redacted",
  async (before) => {
    const shown = 64 * 1024;
    const { error } = await read(200, `${"x".repeat(shown - before)}${key}${"x".repeat(1_000)}`);

    const { body } = error as UnexpectedResponseError;
    expect(String(body).length).toBeLessThanOrEqual(shown);
    for (let at = 0; at + 8 <= key.length; at++) expect(body).not.toContain(key.slice(at, at + 8));
  },
);
