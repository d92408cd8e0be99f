import { AudienceClient, TimeoutError } from "audience-sdk";
import { expect, it } from "vitest";
import { offline } from "../fuzz/offline-client.ts";

it("A body whose empty pieces are all there already does not hold up the call's timeout", async () => {
  const piece = { done: false, value: new Uint8Array(0) } as const;
  let reads = 0;
  // Ends all the same, as a loop that lets no timer run could not be stopped by the test either.
  const read = async () => (++reads < 20_000_000 ? piece : { done: true, value: undefined });
  const body = { getReader: () => ({ read, cancel: async () => undefined }) };
  const answer = { status: 200, headers: new Headers(), body };
  // True as far as a body is asked for.
  const fetch = async () => answer as unknown as Response;
  const audience = new AudienceClient({ ...offline, fetch, timeoutMs: 50 });

  await expect(audience.v1.customers.get("contact-1")).rejects.toThrow(TimeoutError);
});
