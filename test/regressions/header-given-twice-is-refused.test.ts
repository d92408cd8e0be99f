import { AudienceClient, ConfigurationError } from "audience-sdk";
import { expect, it } from "vitest";
import { failureOf, thrownBy } from "../transport/failure.ts";
import { json, profileResponse, serve } from "../transport/served.ts";

it("A header that is given twice in different letter case is refused, because one of the two would be lost", async () => {
  const { options, received } = await serve((outgoing) => json(outgoing, 200, profileResponse));
  const headers = { "X-Team": "crm", "x-team": "sales" };

  expect(thrownBy(() => new AudienceClient({ ...options, headers }))).toBeInstanceOf(ConfigurationError);
  expect(await failureOf(new AudienceClient(options).v1.customers.get("c-1", { headers }))).toBeInstanceOf(
    ConfigurationError,
  );
  expect(received).toEqual([]);
});

it("A header named __proto__ is refused, because a runtime's fetch drops it", async () => {
  const { options, received } = await serve((outgoing) => json(outgoing, 200, profileResponse));
  const headers = JSON.parse('{"__proto__":"x"}') as Record<string, string>;

  expect(thrownBy(() => new AudienceClient({ ...options, headers }))).toBeInstanceOf(ConfigurationError);
  expect(await failureOf(new AudienceClient(options).v1.customers.get("c-1", { headers }))).toBeInstanceOf(
    ConfigurationError,
  );
  expect(received).toEqual([]);
});
