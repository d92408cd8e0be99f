import { AudienceClient, TimeoutError } from "audience-sdk";
import { expect, it } from "vitest";
import { offline } from "../fuzz/offline-client.ts";

it("A body of empty chunks that are all ready does not delay the call's timeout", async () => {
  const piece = { done: false, value: new Uint8Array(0) } as const;
  let reads = 0;
  // The stream ends in any case: the test could not stop a loop that lets no timer run.
  const read = async () => (++reads < 20_000_000 ? piece : { done: true, value: undefined });
  const body = { getReader: () => ({ read, cancel: async () => undefined }) };
  const response = { status: 200, headers: new Headers(), body };
  // Safe: the client reads only these members of a body.
  const fetch = async () => response as unknown as Response;
  const audience = new AudienceClient({ ...offline, fetch, timeoutMs: 50 });

  await expect(audience.v1.customers.get("contact-1")).rejects.toThrow(TimeoutError);
});
