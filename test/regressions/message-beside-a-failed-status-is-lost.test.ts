import { AudienceClient } from "audience-sdk";
import { expect, it } from "vitest";
import { offline } from "../fuzz/offline-client.ts";
import { failureOf } from "../transport/failure.ts";

const key = "test-key-0123456789";

function clientFor(body: unknown): AudienceClient {
  return new AudienceClient({ ...offline, apiKey: key, fetch: async () => Response.json(body) });
}

const contact = {
  firstName: "Ada",
  listIds: [],
  identifiers: [
    {
      type: "email" as const,
      id: "ada@example.com",
      channels: { email: { status: "subscribed" } },
      consent: { createdAt: new Date(0), ip: "192.0.2.1", source: "form" },
    },
  ],
};

it("A 2xx that reports a failure is an error with the message of the service", async () => {
  const { v2 } = clientFor({ status: false, message: "the contact is blocked" });

  const failure = await failureOf(v2.contacts.upsert(contact));

  expect(failure).toMatchObject({
    code: "unexpected_response",
    outcome: "unknown",
    message:
      "200 on POST /v2/contacts, but its body is not what is documented: status: must be true, not a boolean; the service says: the contact is blocked",
  });
});

it("So is a list that reports a failure", async () => {
  const { v2 } = clientFor({ success: false, data: { lists: [] }, message: "try later" });

  const failure = await failureOf(v2.lists.list());

  expect(failure.message).toBe(
    "200 on GET /v2/lists, but its body holds no lists and says that the call failed; the service says: try later",
  );
});

it("The message shows no key and no control characters", async () => {
  const { v2 } = clientFor({ status: false, message: `no access with ${key}\u001b[2J` });

  const { message } = await failureOf(v2.contacts.upsert(contact));

  expect(message).toContain("the service says: no access with [redacted]\\u001b[2J");
});
