import { AudienceClient, ConnectionError, RateLimiter, ServerError } from "audience-sdk";
import { expect, it } from "vitest";
import { offline } from "../fuzz/offline-client.ts";

const unreadable = Proxy.revocable({}, {});
unreadable.revoke();
const oddHeaders = { get: () => null, forEach: () => expect.fail("in the middle of the headers") };

it.each([
  ["throws what cannot be read", () => Promise.reject(unreadable.proxy as Error)],
  ["gives what cannot be read", async () => unreadable.proxy as Response],
  [
    "gives a status that is none",
    async () => ({ status: "200", headers: new Headers() }) as unknown as Response,
  ],
  [
    "gives a status that is none of an answer",
    async () => ({ status: 199, headers: new Headers() }) as unknown as Response,
  ],
  ["gives headers that throw", async () => ({ status: 404, headers: oddHeaders }) as unknown as Response],
])("A fetch that %s is a failed connection, after which all may have been sent", async (_, fetch) => {
  const audience = new AudienceClient({ ...offline, fetch });

  const sending = audience.v1.events.send({ eventName: "signed_up", contact: { email: "ada@example.com" } });

  await expect(sending).rejects.toThrow(ConnectionError);
  await expect(sending).rejects.toMatchObject({ reason: "other", outcome: "unknown" });
});

it("A fetch that gives no Response is told so", async () => {
  const fetch = async () => ({ status: 200 }) as Response; // on purpose none
  const failure: unknown = await new AudienceClient({ ...offline, fetch }).v1.customers
    .get("contact-1")
    .catch((error: unknown) => error);

  expect(failure).toMatchObject({ cause: { message: "the fetch option did not give a Response" } });
});

it("A fetch that throws an error of this package, as one over another client may, gives its place back", async () => {
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
