import { ApiError, AudienceClient, UnexpectedResponseError } from "audience-sdk";
import { describe, expect, it } from "vitest";
import { offline } from "../fuzz/offline-client.ts";
import { failureOf } from "./failure.ts";

describe("A body that is made to be slow is read in time:", () => {
  /** The error of a call with this response, and the processor time that it took. */
  async function read(status: number, text: string) {
    const fetch = async () => new Response(text, { status });
    const { v1 } = new AudienceClient({ ...offline, fetch });
    const started = process.cpuUsage();
    const error = await failureOf(v1.customers.get("c-1"));
    const { user, system } = process.cpuUsage(started);
    return { error, tookMs: (user + system) / 1_000 };
  }

  it("64 KiB of unclosed quotation marks are scanned once", async () => {
    const { error, tookMs } = await read(400, `"${'\\"'.repeat(32_000)}`);

    expect(error).toBeInstanceOf(ApiError);
    expect(tookMs).toBeLessThan(1_000);
  });

  it("10 MB that are no JSON are searched for keys only in the part that is shown", async () => {
    const { error, tookMs } = await read(200, "x".repeat(10_000_000));

    expect(error).toBeInstanceOf(UnexpectedResponseError);
    expect(tookMs).toBeLessThan(1_000);
  });

  it.each([0, 1, 4, 7, 8, 12, 18])(
    "a key that begins %i characters before the end of that part is redacted",
    async (before) => {
      const key = offline.apiKey;
      const shown = 64 * 1024;
      const { error } = await read(200, `${"x".repeat(shown - before)}${key}${"x".repeat(1_000)}`);

      const { body } = error as UnexpectedResponseError;
      expect(String(body).length).toBeLessThanOrEqual(shown);
      for (let at = 0; at + 8 <= key.length; at++) expect(body).not.toContain(key.slice(at, at + 8));
    },
  );
});
