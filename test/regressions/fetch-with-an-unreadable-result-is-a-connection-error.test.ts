import { AudienceClient, ConnectionError, RateLimiter, ServerError } from "audience-sdk";
import { expect, it } from "vitest";
import { offline } from "../fuzz/offline-client.ts";

const unreadable = Proxy.revocable({}, {});
unreadable.revoke();
const oddHeaders = { get: () => null, forEach: () => expect.fail("in the middle of the headers") };

it.each([
  ["throws an unreadable value", () => Promise.reject(unreadable.proxy as Error)],
  ["returns an unreadable value", async () => unreadable.proxy as Response],
  [
    "returns a status that is no number",
    async () => ({ status: "200", headers: new Headers() }) as unknown as Response,
  ],
  [
    "returns a status that no response has",
    async () => ({ status: 199, headers: new Headers() }) as unknown as Response,
  ],
  ["returns headers that throw", async () => ({ status: 404, headers: oddHeaders }) as unknown as Response],
])("A fetch that %s is a ConnectionError whose outcome is unknown", async (_, fetch) => {
  const audience = new AudienceClient({ ...offline, fetch });

  const sending = audience.v1.events.send({ eventName: "signed_up", contact: { email: "ada@example.com" } });

  await expect(sending).rejects.toThrow(ConnectionError);
  await expect(sending).rejects.toMatchObject({ reason: "other", outcome: "unknown" });
});

it("The error for a fetch that returns no Response says so", async () => {
  const fetch = async () => ({ status: 200 }) as Response; // Safe: the test needs a value of the wrong type.
  const failure: unknown = await new AudienceClient({ ...offline, fetch }).v1.customers
    .get("contact-1")
    .catch((error: unknown) => error);

  expect(failure).toMatchObject({ cause: { message: "the fetch option did not give a Response" } });
});

it("A fetch that throws an error of this package, for example through another client, releases its permit", async () => {
  const rateLimiter = new RateLimiter({ windows: [{ limit: 1, intervalMs: 20 }] });
  const inner = new AudienceClient({ ...offline, fetch: async () => new Response("", { status: 500 }) });
  const fetch = async () => {
    await inner.v1.customers.get("contact-1");
    return new Response();
  };
  const audience = new AudienceClient({ ...offline, fetch, rateLimiter });

  const failure: unknown = await audience.v1.customers.get("contact-1").catch((error: unknown) => error);

  expect(failure).toBeInstanceOf(ConnectionError);
  expect(failure).not.toBeInstanceOf(ServerError);
  expect(rateLimiter.usage().inFlight).toBe(0);
});
