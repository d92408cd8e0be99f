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
// JavaScript can throw any value.
const thrower = () => Reflect.apply(rethrow, undefined, [proxy]) as never;

function rethrow(error: Error): never {
  throw error;
}

it.each([
  ["gives", () => proxy],
  ["returns as its items", () => ({ items: proxy })],
  ["returns among its items", () => ({ items: [proxy] })],
  ["throws", thrower],
])("An unreadable value that a parsePage %s is an UnexpectedResponseError", async (_, parse) => {
  const parsePage = parse as unknown as NonNullable<ClientOptions["parsePage"]>;
  const audience = new AudienceClient({ ...offline, parsePage });

  await expect(audience.v1.customers.list().toArray()).rejects.toThrow(UnexpectedResponseError);
});

it("A key function that throws an unreadable value is a wrong configuration", async () => {
  const audience = new AudienceClient({ ...offline, apiKey: thrower });

  await expect(audience.v1.customers.get("contact-1")).rejects.toThrow(ConfigurationError);
});
