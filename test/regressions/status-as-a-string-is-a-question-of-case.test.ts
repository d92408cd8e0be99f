import { AudienceClient } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { expect, it } from "vitest";

it('a v2 response with the status "true" as a string is refused for its type, not for its case', async () => {
  const fetch = async () => Response.json({ status: "true" });
  const audience = new AudienceClient({ ...createMockService().clientOptions, fetch });
  const consent = { createdAt: "2026-01-31T09:30:00Z", ip: "192.0.2.1", source: "form" };
  const channels = { email: { status: "subscribed" } };

  const call = audience.v2.contacts.upsert({
    firstName: "Ada",
    listIds: [],
    identifiers: [{ type: "email", id: "ada@example.com", channels, consent }],
  });

  await expect(call).rejects.toMatchObject({
    name: "UnexpectedResponseError",
    message: expect.stringMatching(/status: must be true, not a string$/),
  });
});
