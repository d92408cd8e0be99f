import {
  AudienceClient,
  ConfigurationError,
  UnexpectedResponseError,
  type ClientOptions,
} from "audience-sdk";
import { expect, it } from "vitest";
import { offline } from "../fuzz/offline-client.ts";

const { proxy, revoke } = Proxy.revocable({}, {});
revoke();
// As what is no Error may be thrown all the same.
const thrower = () => Reflect.apply(rethrow, undefined, [proxy]) as never;

function rethrow(error: Error): never {
  throw error;
}

it.each([
  ["gives", () => proxy],
  ["gives as its items", () => ({ items: proxy })],
  ["gives among its items", () => ({ items: [proxy] })],
  ["throws", thrower],
])("What a parsePage %s, and what throws when it is read, is an unexpected response", async (_, parse) => {
  const parsePage = parse as unknown as NonNullable<ClientOptions["parsePage"]>;
  const audience = new AudienceClient({ ...offline, parsePage });

  await expect(audience.v1.customers.list().toArray()).rejects.toThrow(UnexpectedResponseError);
});

it("A key function that throws what cannot be read is a wrong configuration", async () => {
  const audience = new AudienceClient({ ...offline, apiKey: thrower });

  await expect(audience.v1.customers.get("contact-1")).rejects.toThrow(ConfigurationError);
});
