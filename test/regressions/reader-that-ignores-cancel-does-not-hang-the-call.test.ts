import { AudienceClient, TimeoutError } from "audience-sdk";
import { expect, it } from "vitest";
import { offline } from "../fuzz/offline-client.ts";

it.each([
  ["goes on reading", async () => undefined],
  ["returns no promise", () => undefined],
  [
    "throws",
    () => {
      throw new Error("no");
    },
  ],
])("A body whose reader %s after cancel() ends with the call's timeout", async (_, cancel) => {
  const body = { getReader: () => ({ read: () => new Promise(() => undefined), cancel }) };
  const response = { status: 200, headers: new Headers(), body };
  // Safe: the client reads only these members of a body.
  const fetch = async () => response as unknown as Response;
  const audience = new AudienceClient({ ...offline, fetch, timeoutMs: 50 });

  await expect(audience.v1.customers.get("contact-1")).rejects.toThrow(TimeoutError);
});
