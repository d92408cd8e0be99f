import { AudienceClient, ConfigurationError, UnexpectedResponseError } from "audience-sdk";
import { expect, it } from "vitest";
import { offline } from "../fuzz/offline-client.ts";

const { proxy, revoke } = Proxy.revocable({}, {});
revoke();
// JavaScript can throw any value.
const thrower = () => Reflect.apply(rethrow, undefined, [proxy]) as never;

function rethrow(error: Error): never {
  throw error;
}

it("An unreadable value that a parsePage throws is an UnexpectedResponseError", async () => {
  const audience = new AudienceClient({ ...offline, parsePage: thrower });

  await expect(audience.v1.customers.list().toArray()).rejects.toThrow(UnexpectedResponseError);
});

it("A key function that throws an unreadable value is a wrong configuration", async () => {
  const audience = new AudienceClient({ ...offline, apiKey: thrower });

  await expect(audience.v1.customers.get("contact-1")).rejects.toThrow(ConfigurationError);
});
