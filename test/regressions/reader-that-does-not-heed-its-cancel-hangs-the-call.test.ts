import { AudienceClient, TimeoutError } from "audience-sdk";
import { expect, it } from "vitest";
import { offline } from "../fuzz/offline-client.ts";

it.each([
  ["goes on reading", async () => undefined],
  ["gives no promise", () => undefined],
  [
    "throws",
    () => {
      throw new Error("no");
    },
  ],
])("A body whose reader %s where it is given up ends with the call's timeout", async (_, cancel) => {
  const body = { getReader: () => ({ read: () => new Promise(() => undefined), cancel }) };
  const answer = { status: 200, headers: new Headers(), body };
  // True as far as a body is asked for.
  const fetch = async () => answer as unknown as Response;
  const audience = new AudienceClient({ ...offline, fetch, timeoutMs: 50 });

  await expect(audience.v1.customers.get("contact-1")).rejects.toThrow(TimeoutError);
});
