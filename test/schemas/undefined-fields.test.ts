import { AudienceClient } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { v1EventSchema, v2ContactSchema } from "audience-sdk/schemas";
import { expect, it } from "vitest";

const identifier = {
  type: "email",
  id: "ada@example.com",
  channels: { email: { status: "subscribed" } },
  consent: { createdAt: "2026-01-31T09:30:00Z", ip: "192.0.2.1", source: "form" },
};

it.each([
  [
    "a v2 contact",
    v2ContactSchema,
    { firstName: "Ada", listIds: [], identifiers: [identifier], extra: undefined },
  ],
  ["an event's contact", v1EventSchema, { eventName: "seen", contact: { email: "a@b.c", extra: undefined } }],
])("An undocumented field of %s whose value is undefined is omitted", (_, schema, value) => {
  expect(schema.safeParse(value).success).toBe(true);
});

it("An unknown field of a v1 contact whose value is undefined is left out", async () => {
  const mock = createMockService();
  const audience = new AudienceClient(mock.clientOptions);
  const row = { email: "ada@example.com", listIds: undefined };

  await audience.v1.customers.upsert(row);

  expect(mock.requests[0]?.body).toEqual({ email: "ada@example.com" });
});
